"""`timpani compare A B [--fail-on CHANGE]`: what changed, and the exit status for automation."""

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.campaign_files import results_of
from tests.cli.typed import typed
from tests.judge.campaigns import around
from tests.report.conftest import synthetic_header, synthetic_launches, write_campaign
from timpani.judge.changes import ChangeLimit
from timpani.study.cell import Algorithm, Cell
from timpani.study.selection import Call
from timpani.tune.confirmation import ConfirmedPoint, ConfirmedRatio, changes_meeting

DOCS = Path(__file__).parents[2] / "docs" / "how-to" / "compare-two-campaigns.md"


def campaign(folder: Path, curves: dict[str, dict[int, list[float]]], launches: Any = None, **header: Any) -> Path:
    times = {
        Cell("bcast", Algorithm("openmpi", name), 2, "core", size, "warm"): launches_of
        for name, sizes in curves.items()
        for size, launches_of in sizes.items()
    }
    results = results_of(times, machine="desk")
    return write_campaign(folder, synthetic_header() | header, results, launches or synthetic_launches())


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("pair")
    old, new = {"kind": "openmpi", "version": "4.1.4"}, {"kind": "openmpi", "version": "5.0.11"}
    busy = {"host": "desk", "cores": 4, "seconds": 3.0, "busy_s": 9.0, "own_s": 3.0, "steal_s": 0.0}
    loaded = [launch | {"machines": [busy]} for launch in synthetic_launches()]
    first = {"default": {8: around(2.0), 16: around(1.0), 32: around(1.0)}, "chain": {8: around(1.0), 16: around(1.0)}}
    second = {"default": {8: around(1.0), 16: around(3.0), 32: around(1.0)}, "ring": {8: around(1.0)}}
    return campaign(folder / "a", first, mpi=old), campaign(folder / "b", second, loaded, mpi=new)


def documented() -> set[str]:
    rows = [line.split("|")[1] for line in DOCS.read_text().splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row)}


def test_json_has_every_cell_under_documented_keys(pair: tuple[Path, Path]) -> None:
    compared = json.loads(typed("compare", *pair, "--format", "json").stdout)
    assert {"a", "b", "differences", "cells", "only_a", "only_b"} < compared.keys() <= documented()
    assert [cell["standing"] for cell in compared["cells"]] == ["faster", "slower", "equivalent"]
    assert all(cell.keys() <= documented() for cell in compared["cells"])
    assert (len(compared["only_a"]), len(compared["only_b"])) == (2, 1)
    assert compared["differences"] == [{"what": "MPI library", "a": "Open MPI 4.1.4", "b": "Open MPI 5.0.11"}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "a campaign is compared with one other thing; name another campaign (timpani compare A B), or"),
        (("{a}",), "the same campaign; name two"),
        (("{b}", "--published", "malasi"), "a campaign is compared with one other thing"),
        (("nowhere",), "folder not found: nowhere"),
    ],
)
def test_an_impossible_comparison_is_refused(pair: tuple[Path, Path], words: tuple[str, ...], said: str) -> None:
    first, second = pair
    done = typed("compare", first, *(word.format(a=first, b=second) for word in words))
    assert done.returncode == 2
    assert said in done.stderr


def test_a_copy_is_the_same_campaign(tmp_path: Path) -> None:
    log = Path(__file__).parents[1] / "data" / "osu" / "bcast-5.6.txt"
    assert typed("import", log, "--ranks", "4", "-o", tmp_path / "a").returncode == 0
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    done = typed("compare", tmp_path / "a", tmp_path / "b")
    assert (done.returncode, done.stdout) == (2, "")
    assert "are the same campaign; name two" in done.stderr


def test_two_libraries_that_are_here_are_recommended_to_be_paired(tmp_path: Path) -> None:
    times = {"default": {8: around(2.0), 16: around(1.0)}}
    launchers = []
    for name in ("old one", "new"):
        launcher = tmp_path / name / "bin" / "mpirun"
        launcher.parent.mkdir(parents=True)
        launcher.write_text("#!/bin/sh\ntouch was-run\n")
        launcher.chmod(0o755)
        launchers.append({"kind": "openmpi", "version": name.split()[0], "mpirun": str(launcher)})
    first, second = (campaign(tmp_path / f"c{i}", times, mpi=mpi) for i, mpi in enumerate(launchers))
    done = typed("compare", first, second)
    assert done.returncode == 0, done.stderr
    words = shlex.split(done.stdout.splitlines()[-1].partition(": ")[2])
    assert words[:3] == ["timpani", "run", "bcast"]
    named = [words[i + 1] for i, word in enumerate(words) if word == "--mpi"]
    assert named == [mpi["mpirun"] for mpi in launchers]
    assert not Path("was-run").exists()
    Path(launchers[1]["mpirun"]).unlink()
    assert "--mpi" not in typed("compare", first, second).stdout
    same = campaign(tmp_path / "same", times, mpi=launchers[0])
    assert "--mpi" not in typed("compare", first, same).stdout
    elsewhere = campaign(tmp_path / "elsewhere", times, mpi=launchers[0], machine={"name": "other"})
    assert "--mpi" not in typed("compare", elsewhere, first).stdout


@pytest.fixture(scope="module")
def slower_and_faster(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """B takes 1.5 times as long at 8 bytes, half as long at 16 bytes, and is too noisy to decide at 32 bytes."""
    folder = tmp_path_factory.mktemp("limits")
    noisy = [1.0, 3.0, 0.5, 2.0, 0.7, 1.4]
    first = {"default": {8: around(1.0), 16: around(2.0), 32: noisy}}
    second = {"default": {8: around(1.5), 16: around(1.0), 32: noisy[::-1]}}
    return campaign(folder / "a", first), campaign(folder / "b", second)


@pytest.mark.parametrize(
    ("limit", "status", "said"),
    [
        ("slower", 1, "--fail-on slower: met at 1 cell, by up to 50 %; 1 undecided, which does not fail"),
        ("slower:40%", 1, "--fail-on slower:40%: met at 1 cell"),
        ("slower:60%", 0, "--fail-on slower:60%: not met by any significant change; 1 undecided, which does not fail"),
        ("faster:90%", 1, "--fail-on faster:90%: met at 1 cell"),
        ("faster:150%", 0, "not met"),
    ],
)
def test_a_significant_change_of_the_size_fails(
    slower_and_faster: tuple[Path, Path], limit: str, status: int, said: str
) -> None:
    done = typed("compare", *slower_and_faster, "--fail-on", limit, "--format", "json")
    assert done.returncode == status
    assert said in done.stderr
    assert json.loads(done.stdout)["undecided"] == 1


@pytest.mark.parametrize("text", ["5%", "slower:", "slower:5", "slower:-5%", "undecided:5%", "slower:٥%"])
def test_an_invalid_limit_is_refused_before_anything_is_read(text: str) -> None:
    for command in (("compare", "nowhere", "nothing"), ("confirm", "nowhere")):
        done = typed(*command, "--fail-on", text)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"--fail-on {text!r} is no limit; write for example slower:5%" in done.stderr


def test_campaigns_without_a_common_cell_neither_pass_nor_fail(
    slower_and_faster: tuple[Path, Path], tmp_path: Path
) -> None:
    other = campaign(tmp_path / "other", {"ring": {8: around(1.0)}})
    done = typed("compare", slower_and_faster[0], other, "--fail-on", "slower:5%")
    assert done.returncode == 2
    assert "no cell of both campaigns can be tested" in done.stderr


def test_campaigns_with_too_few_launches_neither_pass_nor_fail(tmp_path: Path) -> None:
    one, other = (campaign(tmp_path / name, {"default": {8: [time]}}) for name, time in (("a", 1.0), ("b", 9.0)))
    done = typed("compare", one, other, "--fail-on", "slower:5%")
    assert done.returncode == 2
    assert "with so few launches no cell can differ significantly; measure more launches of both" in done.stderr
    assert typed("compare", one, other).returncode == 0


def test_a_confirmed_point_counts_by_its_significant_ratio() -> None:
    def point(standing: str, gain: ConfirmedRatio | None, by_file: ConfirmedRatio | None) -> ConfirmedPoint:
        file, none = Algorithm("openmpi", "under-files"), ConfirmedRatio(0.0, 0.0, 0.0, False)
        call = Call("bcast", 2, 1, 2, 8)
        where = (call, "core", "warm", "m", file, None, standing)
        return ConfirmedPoint(*where, gain, by_file, "open", none, "default", False)  # type: ignore[arg-type]

    slower, noise = ConfirmedRatio(0.8, 0.7, 0.9, True), ConfirmedRatio(0.1, 0.01, 2.0, False)
    points = [point("lost", noise, slower), point("undecided", noise, noise), point("gained", slower, None)]
    assert changes_meeting(ChangeLimit.parse("slower:20%"), points) == [pytest.approx(0.25)]
    assert changes_meeting(ChangeLimit.parse("slower:25%"), points) == [pytest.approx(0.25)]
    assert changes_meeting(ChangeLimit.parse("slower:26%"), points) == []
    assert changes_meeting(ChangeLimit.parse("faster"), points) == []


def test_junit_has_a_case_for_each_cell(slower_and_faster: tuple[Path, Path]) -> None:
    def cases(limit: str) -> list[str]:
        done = typed("compare", *slower_and_faster, "--fail-on", limit, "--format", "junit")
        suite = ElementTree.fromstring(done.stdout.encode())
        assert (suite.get("failures") != "0") == (done.returncode == 1)
        assert "A / B" in suite.findtext("system-out", "")
        return [case[0].tag if len(case) else "passed" for case in suite.iter("testcase")]

    assert cases("slower:5%") == ["failure", "passed", "skipped"]
    assert cases("slower:60%") == ["passed", "passed", "skipped"]
    assert cases("faster") == ["passed", "failure", "skipped"]
