"""What other processes did while ranks ran, from launches.jsonl."""

from typing import Any

import pytest

from timpani.campaign.read.campaign_warnings import load_warnings, machine_loads, without_effect
from timpani.study.cell import Algorithm, Cell
from timpani.study.schema import cell_columns


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


TREE, FLAT = [[0, 1], [0, 0]], [[0, 2], [0, 0]]


def proof(parameters: str, messages: list[list[int]], **fields: Any) -> dict[str, Any]:
    cell = Cell("bcast", Algorithm("openmpi", "chain"), 2, "core", 8, "warm")
    return {**cell_columns(cell), "parameters": parameters, "messages": messages, "bytes": messages, **fields}


def test_a_parameter_whose_values_all_send_the_same_is_named() -> None:
    proofs = [proof(f"fanout={value}", TREE, message_bytes=size) for value in (2, 10) for size in (8, 1024)]
    assert without_effect(proofs) == [
        "bcast chain sent the same messages with fanout 2, 10 (up to 2 ranks, 2 sizes from 8 B to 1 KiB): "
        "nothing counted here shows that fanout was applied"
    ]


def test_a_parameter_that_matters_at_one_point_is_applied() -> None:
    equal = [proof(f"fanout={value}", TREE) for value in (2, 10)]
    assert without_effect([*equal, proof("fanout=2", TREE, ranks=8), proof("fanout=10", FLAT, ranks=8)]) == []


def test_each_of_two_parameters_is_checked_with_the_other_fixed() -> None:
    grid = [
        proof(f"fanout={fanout},segment_bytes={size}", FLAT if size > 8 else TREE)
        for fanout in (2, 3)
        for size in (8, 16)
    ]
    assert [text.split()[7] for text in without_effect(grid)] == ["fanout"]
