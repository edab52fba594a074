"""`timpani compare A B --fail-on CHANGE`: the exit status for automation."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.test_compare import campaign
from tests.cli.typed import typed
from tests.judge.campaigns import around
from timpani.judge.changes import ChangeLimit
from timpani.study.cell import Algorithm
from timpani.study.selection import Call
from timpani.tune.confirmation import ConfirmedPoint, ConfirmedRatio, changes_meeting


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
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
def test_a_significant_change_of_the_size_fails(pair: tuple[Path, Path], limit: str, status: int, said: str) -> None:
    done = typed("compare", *pair, "--fail-on", limit, "--format", "json")
    assert done.returncode == status
    assert said in done.stderr
    assert json.loads(done.stdout)["undecided"] == 1


@pytest.mark.parametrize("text", ["5%", "slower:", "slower:5", "slower:-5%", "undecided:5%", "slower:٥%"])
def test_an_invalid_limit_is_refused_before_anything_is_read(text: str) -> None:
    for command in (("compare", "nowhere", "nothing"), ("confirm", "nowhere")):
        done = typed(*command, "--fail-on", text)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"--fail-on {text!r} is no limit; write for example slower:5%" in done.stderr


def test_campaigns_without_a_common_cell_neither_pass_nor_fail(pair: tuple[Path, Path], tmp_path: Path) -> None:
    other = campaign(tmp_path / "other", {"ring": {8: around(1.0)}})
    done = typed("compare", pair[0], other, "--fail-on", "slower:5%")
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


def test_junit_has_a_case_for_each_cell(pair: tuple[Path, Path]) -> None:
    def cases(limit: str) -> list[str]:
        done = typed("compare", *pair, "--fail-on", limit, "--format", "junit")
        suite = ElementTree.fromstring(done.stdout.encode())
        assert (suite.get("failures") != "0") == (done.returncode == 1)
        assert "A / B" in suite.findtext("system-out", "")
        return [case[0].tag if len(case) else "passed" for case in suite.iter("testcase")]

    assert cases("slower:5%") == ["failure", "passed", "skipped"]
    assert cases("slower:60%") == ["passed", "passed", "skipped"]
    assert cases("faster") == ["passed", "failure", "skipped"]
