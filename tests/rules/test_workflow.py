"""How the workflow spends a budget: the clock and the times are given, nothing is measured."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

import pytest

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedMpi
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.store import Store
from timpani.campaign.plan.estimate import start_seconds
from timpani.campaign.run.run import Outcome
from timpani.campaign.run.session import Session
from timpani.machine.here.describe import MachineDescription
from timpani.rules.time_budget import TimeBudget
from timpani.rules.workflow import Target, measure_boundaries
from timpani.study.cell import Algorithm, Cell
from timpani.study.defaults import LAUNCHES
from timpani.study.study import Study

STUDY = Study.check({"collectives": {"bcast": ("default", "ring")}, "ranks": 2, "sizes": 64}, "test")
DEFAULT_US = 10.0
TIE, FASTER = (DEFAULT_US, 8), (DEFAULT_US / 2, 40)
"""The ring's time and the launches of a session; those of FASTER outweigh two sessions of TIE."""


@dataclass(frozen=True)
class GivenTarget(Target):
    """Plans nothing: notes the seconds of each session, which are refused below `least`."""

    least: float = 1.0
    sessions: list[float] = field(default_factory=list)

    def prepare(self, study: Study, seconds: float | None = None) -> Session | None:
        assert seconds is not None
        if seconds < self.least:
            return None
        self.sessions.append(seconds)
        return cast(Session, object())


def add_launches(folder: Path, ring_us: float, launches: int, launch_s: float = 0.0) -> None:
    """Add launches of `launch_s` seconds and a start in which a ring takes `ring_us` to a campaign."""
    header = Header.new(
        study=STUDY.model_dump(mode="json"),
        machine=MachineDescription(name="here"),
        mpi=RecordedMpi(kind="openmpi", version="5"),
        created="2026-11-25T00:00:00+00:00",
        command="",
        left_out=[],
    )
    with Store(folder, header) as store:
        first = 1 + max((each.launch for each in store.results), default=0)
        for launch in range(first, first + launches):
            for name, time in (("default", DEFAULT_US), ("ring", ring_us)):
                cell = Cell("bcast", Algorithm("openmpi", name), 2, "core", 64, "warm")
                noise = 1 + (launch % 5) / 1000
                result = LaunchResult(
                    cell,
                    launch,
                    "here",
                    median_us=time * noise,
                    repetitions=100,
                    interleaving=f"{launch:04d}-1/1",
                    relative=time * noise,
                    setup_s=0.0,
                    bursts_s=launch_s,
                )
                store.add_result(result)


def sessions(
    folder: Path,
    found: Sequence[tuple[float, int]],
    ended: Literal["budget", "complete"] = "budget",
    launch_s: float = 0.0,
) -> list[float]:
    """The seconds of each session of 600 s in all; each spends its seconds and finds the next of `found`."""
    now, target, rest = [0.0], GivenTarget(), iter(found)

    def measure(_session: Session, into: Path, _prove: object = None) -> Outcome:
        now[0] += target.sessions[-1]
        add_launches(into, *next(rest), launch_s)
        return Outcome(ended, 0)

    measure_boundaries(STUDY, target, folder, measure, TimeBudget(600.0, lambda: now[0]))
    return target.sessions


def test_a_found_rule_leaves_half_of_the_budget_to_confirm_it(tmp_path: Path) -> None:
    assert sessions(tmp_path, [FASTER]) == [300]


def test_while_no_algorithm_is_worth_a_rule_half_of_the_rest_is_for_choosing_again(tmp_path: Path) -> None:
    assert sessions(tmp_path, [TIE, TIE, FASTER]) == [300, 150, 75]


@pytest.mark.parametrize("launch_s", [0.0, 2.0])
def test_choosing_again_leaves_time_for_the_launches_of_a_confirmation(tmp_path: Path, launch_s: float) -> None:
    launches_s = LAUNCHES * (start_seconds("openmpi", 2) + launch_s)
    unspent = 600 - sum(sessions(tmp_path, [TIE] * 9, launch_s=launch_s))
    assert 0.75 * unspent == pytest.approx(launches_s, abs=1)


def test_a_complete_campaign_is_not_repeated(tmp_path: Path) -> None:
    assert sessions(tmp_path, [TIE], ended="complete") == [300]
