"""What other processes did while ranks ran, from launches.jsonl."""

from typing import Any

import pytest

from timpani.campaign.read.campaign_warnings import load_warnings, machine_loads


def launch(busy_s: float, own_s: float, seconds: float = 2.0, steal_s: float = 0.0, host: str = "n1") -> dict[str, Any]:
    machine = {"host": host, "cores": 4, "seconds": seconds, "busy_s": busy_s, "own_s": own_s, "steal_s": steal_s}
    return {"launch": 1, "machines": [machine]}


def test_a_quiet_machine_is_no_warning() -> None:
    launches = [launch(4.0, 4.0), launch(4.02, 3.99)]
    assert list(load_warnings(launches)) == []
    (load,) = machine_loads(launches)
    assert load.starts == 2
    assert load.others == pytest.approx(0.03 / 4)


def test_other_processes_are_reported_in_cores_with_the_worst_launch() -> None:
    (warning,) = load_warnings([launch(4.0, 4.0), launch(7.0, 4.0), launch(0.02, 0.0, seconds=0.005)])
    assert "on n1 other processes kept 0.8 of 4 cores busy on average, up to 1.5 in one launch" in warning


def test_steal_time_is_a_load_too() -> None:
    (warning,) = load_warnings([launch(4.0, 4.0, steal_s=0.4)])
    assert "the hypervisor gave 0.20 of 4 cores to others on average" in warning


def test_each_machine_is_judged_separately() -> None:
    assert len(machine_loads([launch(4.0, 4.0), launch(7.0, 4.0, host="n2")])) == 2
    (warning,) = load_warnings([launch(4.0, 4.0), launch(7.0, 4.0, host="n2")])
    assert "on n2" in warning


def test_ticks_that_the_kernel_has_not_counted_yet_are_no_load() -> None:
    (load,) = machine_loads([launch(0.02, 0.03, seconds=0.014)])
    assert (load.others, load.most_others) == (0.0, None)


def test_load_ignores_launches_that_died_or_lack_the_fields() -> None:
    assert machine_loads([{"launch": 1}, {"launch": 2, "machines": []}]) == []
