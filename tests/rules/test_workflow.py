"""How the workflow spends a budget: the clock and the times are given, nothing is measured."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedMpi
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.store import Store
from timpani.campaign.run.run import Outcome
from timpani.campaign.run.session import Session
from timpani.machine.here.describe import MachineDescription
from timpani.rules.time_budget import TimeBudget
from timpani.rules.workflow import Target, measure_boundaries
from timpani.study.cell import Algorithm, Cell
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


def add_launches(folder: Path, ring_us: float, launches: int) -> None:
    """Add launches in which a ring takes `ring_us` to a campaign."""
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
                store.add_result(LaunchResult(cell, launch, "here", median_us=time * noise, repetitions=100))


def sessions(
    folder: Path, found: Sequence[tuple[float, int]], ended: Literal["budget", "complete"] = "budget"
) -> list[float]:
    """The seconds of each session of 60 s in all; each spends its seconds and finds the next of `found`."""
    now, target, rest = [0.0], GivenTarget(), iter(found)

    def measure(_session: Session, into: Path, _prove: object = None) -> Outcome:
        now[0] += target.sessions[-1]
        add_launches(into, *next(rest))
        return Outcome(ended, 0)

    measure_boundaries(STUDY, target, folder, measure, TimeBudget(60.0, lambda: now[0]))
    return target.sessions


def test_a_found_rule_leaves_half_of_the_budget_to_confirm_it(tmp_path: Path) -> None:
    assert sessions(tmp_path, [FASTER]) == [30]


def test_while_no_algorithm_is_worth_a_rule_half_of_the_rest_is_for_choosing_again(tmp_path: Path) -> None:
    assert sessions(tmp_path, [TIE, TIE, FASTER]) == [30, 15, 7.5]


def test_the_sessions_end_when_too_little_is_left_to_start_the_programs(tmp_path: Path) -> None:
    assert sessions(tmp_path, [TIE] * 9) == [30, 15, 7.5, 3.75, 1.875]


def test_a_complete_campaign_is_not_repeated(tmp_path: Path) -> None:
    assert sessions(tmp_path, [TIE], ended="complete") == [30]
