"""Campaigns across the nodes of a lab: real TCP, real host names, links of a set rate."""

import csv
import json
import os
import signal
import statistics
import subprocess
from pathlib import Path
from typing import Any

from tests.campaign.live import Live, gone, keys, results, starts, timpani, wait_until
from tests.cli.typed import typed
from tests.installed import OPEN_MPIS, every_open_mpi, needs_open_mpi
from tests.lab.conftest import Made, Make, needs_lab
from timpani.libraries.library import LaunchRequest
from timpani.machine.lab.make import burst_bytes
from timpani.machine.launchers import command, lab_machine
from timpani.machine.nodes.host_list import choose_hosts
from timpani.native.build import build
from timpani.native.mpi import Mpi

pytestmark = [needs_open_mpi, needs_lab]

LINK, UPLINK = 10**9, 250_000_000  # bit/s
HOUR_NS = 3_600_000_000_000
QUICK = ("--ranks", "8", "--slot", "5ms", "--launches", "1")  # 4 nodes of 2 ranks


@every_open_mpi
def test_broadcasts_of_the_library_run_across_nodes_as_their_names_say(lab: Made, mpi: Mpi, tmp_path: Path) -> None:
    # Each is forced in the same way, and tests/campaign/run/test_prove.py counts more of them: these differ most.
    algorithms = ("linear", "binomial", "scatter_allgather_ring")
    folder = tmp_path / "c"
    study = ("bcast", "--algorithms", ",".join(("default", *algorithms)), "--sizes", "1Ki", "--mpi", mpi.mpirun, *QUICK)
    done = typed("run", *study, "--on", f"lab:{lab.id}", "--prove", "-o", folder)
    assert done.returncode == 0, done.stderr
    assert {line["oversubscribed"] for line in results(folder)} == {True}
    assert {line["machine"] for line in results(folder)} == {"lab:4x2-2groups-1gbit-250mbit"}
    timed = [launch for launch in starts(folder) if launch["launch"] is not None]
    assert timed
    for launch in timed:
        assert [rank["host"] for rank in launch["ranks"]] == ["n1", "n1", "n2", "n2", "n3", "n3", "n4", "n4"]
        assert launch["clocks"] == 4
        assert (
            0 < launch["clock_error_ns"] < HOUR_NS / 1000
        )  # the nodes share a clock; a busy machine adds milliseconds

    said = typed("prove", folder, "--format", "json")
    named = {line["algorithm"]: line for line in json.loads(said.stdout)}
    default = named.pop("default")
    assert set(named) == set(algorithms), done.stderr
    for algorithm, line in named.items():
        assert algorithm in {name.removeprefix("timpani/").partition(":")[0] for name in line["named"]}, line
    if mpi.numbers >= (5,):  # HAN: two levels, which no schedule of one level sends. Forced ones went without it.
        assert default["named"] == []


def test_messages_on_a_node_on_a_switch_and_across_have_curves_of_their_own(lab: Made, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    size = 2**21  # many times what a link may send at once
    study = (
        *("latency", "--pairs", "distinct", "--ranks", "5", "--sizes", f"8,{size}"),
        *("-x", "1", "-i", "3", "--launches", "2"),
    )
    done = typed("run", *study, "--mpi", OPEN_MPIS[0].mpirun, "--on", f"lab:{lab.id}", "-o", folder)
    assert done.returncode == 0, done.stderr
    shown = typed("show", folder, "--format", "csv").stdout
    times = {
        row["locality"]: float(row["median_us"])
        for row in csv.DictReader(shown.splitlines())
        if row["message_bytes"] == str(size)
    }
    crossing = {rate: 8e6 * (size - burst_bytes(rate)) / rate for rate in (LINK, UPLINK)}  # µs
    assert set(times) == {"same node", "same switch", "different switch"}
    assert times["same switch"] > crossing[LINK]
    assert times["different switch"] > crossing[UPLINK]
    fitted = json.loads(typed("fit", folder, "--format", "json").stdout)["curves"]
    assert {curve["locality"] for curve in fitted} == set(times)


def test_a_campaign_continues_in_a_new_lab(make: Make, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    study = ("bcast", "--algorithms", "default", "--sizes", "8", "--ranks", "2", "--slot", "2ms")

    def run(lab: Made, launches: int) -> "subprocess.CompletedProcess[str]":
        done = typed("run", *study, "--launches", str(launches), "--on", f"lab:{lab.id}", "-o", folder)
        assert timpani("lab", "down", lab.id).returncode == 0
        return done

    assert run(make("--nodes", "2", "--cores", "1"), 1).returncode == 0
    again = run(make("--nodes", "2", "--cores", "1"), 2)
    assert again.returncode == 0, again.stderr
    assert len(keys(folder)) == 2
    assert {line["machine"] for line in results(folder)} == {"lab:2x1-1gbit"}


def test_completion_does_not_move_when_the_nodes_clocks_are_wrong(lab: Made, tmp_path: Path) -> None:
    mpi = OPEN_MPIS[0]
    machine = lab_machine(f"lab:{lab.id}")
    measure = build(mpi) / "timpani-measure"

    def run(name: str, skews: list[str]) -> list[dict[str, Any]]:
        folder = tmp_path / name
        folder.mkdir()
        plan, record = folder / "plan.txt", folder / "record.jsonl"
        lines = ["timpani-plan 1", "start barrier", "slot_ns 300000000", *skews, "cell 0 bcast 262144 warm - - -", ""]
        plan.write_text("\n".join(lines))
        program = (str(measure), str(plan), str(record))
        hosts = choose_hosts(machine)
        request = LaunchRequest(4, "node", False, (), {}, program, hosts, folder)
        to_run = command(mpi, request, machine)
        for file, text in to_run.files.items():
            (folder / file).write_text(text)
        done = subprocess.run(
            to_run.argv, env={**os.environ, **to_run.environment}, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in record.read_text().splitlines()]

    # Hours apart, and drifting; the call takes some milliseconds.
    right = run("right", [])
    wrong = run("wrong", [f"skew 1 {5 * HOUR_NS} 20", f"skew 2 {-3 * HOUR_NS} -20", f"skew 3 {HOUR_NS} 0"])
    before, after = (
        next(statistics.median(line["measured"]["completion_ns"]) for line in record if "measured" in line)
        for record in (right, wrong)
    )
    assert right[0]["clocks"] == wrong[0]["clocks"] == 4
    assert abs(after - before) < HOUR_NS / 10_000  # also on a busy machine


def test_a_killed_campaign_leaves_no_ranks_and_can_be_continued(lab: Made, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    study = (
        *("bcast", "--algorithms", "default", "--sizes", "256Ki,512Ki", "--slot", "100ms"),
        *("--ranks", "8", "--launches", "1"),
    )
    with Live(folder, *study, "--mpi", str(OPEN_MPIS[0].mpirun), "--on", f"lab:{lab.id}") as live:
        live.until(live.in_a_cell)
        everyone = lab.processes()
        assert len(everyone) > 8  # ranks, and what started them
        # Jobs of Open MPI 4.1 on nodes of the same name elsewhere would remove each other's folders.
        assert all(b"/timpani-launches-" in Path(f"/proc/{each}/environ").read_bytes() for each in everyone)
        live.process.send_signal(signal.SIGKILL)
        wait_until(lambda: all(map(gone, everyone)))
    assert typed(*live.arguments).returncode == 0
    assert len(keys(folder)) == 2
    assert lab.processes() == []
