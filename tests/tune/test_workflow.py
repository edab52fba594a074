"""How the workflow spends a budget: the clock and the times are given, nothing is measured."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
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
from timpani.machine.describe import MachineDescription
from timpani.study.cell import Algorithm, Cell
from timpani.study.defaults import LAUNCHES
from timpani.study.study import Study
from timpani.tune.workflow import Target, TimeBudget, budget_division, measure_boundaries

SMALL, LARGE = 64, 4096
STUDY = Study.check({"collectives": {"bcast": ("default", "ring")}, "ranks": 2, "sizes": (SMALL, LARGE)}, "test")
DEFAULT_US = 10.0
TIE, FASTER = (DEFAULT_US, 8), (DEFAULT_US / 2, 40)
"""The ring's time and the launches of a session; those of FASTER outweigh two sessions of TIE."""
BETWEEN = 512
"""The middle of the two sizes, on a logarithmic scale."""


def test_the_parts_of_a_budget_add_up() -> None:
    assert budget_division(60) == "1 min: 30 s to choose, the rest to confirm"


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


def add_launches(
    folder: Path, ring_us: float, launches: int, launch_s: float = 0.0, sizes: Sequence[int] = (SMALL, LARGE)
) -> None:
    """Add launches of `launch_s` seconds and a start to a campaign; a ring takes `ring_us` except at `SMALL`."""
    header = Header.new(
        study=STUDY.model_dump(mode="json"),
        machine=MachineDescription(name="here"),
        mpi=RecordedMpi(kind="openmpi", version="5"),
        command="",
        left_out=[],
    )
    with Store(folder, header) as store:
        first = 1 + max((each.launch for each in store.results), default=0)
        for launch in range(first, first + launches):
            for size, name in product(sizes, ("default", "ring")):
                cell = Cell("bcast", Algorithm("openmpi", name), 2, "core", size, "warm")
                time = ring_us if name == "ring" and size > SMALL else DEFAULT_US
                time *= 1 + (launch % 5) / 1000
                result = LaunchResult(
                    cell,
                    launch,
                    "here",
                    median_us=time,
                    repetitions=100,
                    interleaving=f"{launch:04d}-1/{size}",
                    relative=time,
                    setup_s=0.0,
                    bursts_s=launch_s / len(sizes),
                )
                store.add_result(result)


def sessions(
    folder: Path,
    found: Sequence[tuple[float, int]],
    ended: Literal["budget", "complete"] = "budget",
    launch_s: float = 0.0,
) -> list[float]:
    """The seconds of each session of 600 s in all; each spends its seconds and finds the next of `found`.

    Sessions of sizes between the two find a ring that is faster at the first one.
    """
    now, target, rest = [0.0], GivenTarget(), iter(found)

    def measure(_session: Session, into: Path, _prove: object = None) -> Outcome:
        now[0] += target.sessions[-1]
        if into.name == "campaign":
            add_launches(into, *next(rest), launch_s)
        else:
            add_launches(into, *FASTER, launch_s, [BETWEEN])
        return Outcome(ended, 0)

    measure_boundaries(STUDY, target, folder, measure, TimeBudget(600.0, lambda: now[0]), print)
    return target.sessions


def test_a_found_rule_leaves_a_quarter_of_the_budget_to_confirm_it(tmp_path: Path) -> None:
    """Half of it is for choosing, and half of the rest for the size at which the choice changes."""
    assert sessions(tmp_path, [FASTER]) == [300, 150]


def test_sizes_between_are_left_out_where_a_comparison_would_take_too_long(tmp_path: Path) -> None:
    assert sessions(tmp_path, [FASTER], launch_s=15.0) == [300]


def test_sizes_between_leave_time_for_the_launches_of_a_confirmation(tmp_path: Path) -> None:
    launches_s = LAUNCHES * (2 * start_seconds("openmpi", 2) + 11.0)
    _, between = sessions(tmp_path, [FASTER], launch_s=11.0)
    assert between == pytest.approx(300 - launches_s / 0.75, abs=1)


def test_while_no_algorithm_is_worth_a_rule_half_of_the_rest_is_for_choosing_again(tmp_path: Path) -> None:
    assert sessions(tmp_path, [TIE, TIE, FASTER]) == [300, 150, 75, 37.5]


@pytest.mark.parametrize("launch_s", [0.0, 2.0])
def test_choosing_again_leaves_time_for_the_launches_of_a_confirmation(tmp_path: Path, launch_s: float) -> None:
    launches_s = LAUNCHES * (2 * start_seconds("openmpi", 2) + launch_s)
    unspent = 600 - sum(sessions(tmp_path, [TIE] * 9, launch_s=launch_s))
    assert 0.75 * unspent == pytest.approx(launches_s, abs=1)


def test_a_complete_campaign_is_not_repeated(tmp_path: Path) -> None:
    assert sessions(tmp_path, [TIE], ended="complete") == [300]
