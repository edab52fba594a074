"""Rank counts share starts where the library's own choice takes as long on the first ranks of more: seen by times."""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.campaign.live import results, starts
from tests.installed import FOUND, MPICHS, OPEN_MPIS, label, needs_mpi
from tests.preloading import preload
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.campaign.run.session import Session
from timpani.campaign.run.world_times import FACTOR, MOST_PAIRS, WorldTimer, least_seen, reference, suspected
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.providers.own import own_catalogue
from timpani.study.compose import compose
from timpani.study.operations import COLLECTIVES

RATIOS = st.lists(st.floats(0.01, 100), min_size=1, max_size=6)

AT_ONCE = [mpi for mpi in OPEN_MPIS if mpi.numbers >= (5,)][:1]
"""A library whose messages are compared in place of times."""

ONE_OF_EACH = pytest.mark.parametrize("mpi", [*OPEN_MPIS[:1], *MPICHS[:1]], ids=label)


@given(RATIOS)
def test_a_default_is_suspected_where_all_pairs_agree(ratios: list[float]) -> None:
    longer, shorter = (all(map(side, ratios)) for side in (lambda each: each > FACTOR, lambda each: each < 1 / FACTOR))
    assert suspected(ratios) == (longer or shorter)


@given(RATIOS, st.floats(0.01, 100))
def test_no_further_pair_raises_suspicion(ratios: list[float], further: float) -> None:
    assert suspected(ratios) or not suspected([*ratios, further])


@given(st.lists(st.floats(0.01, 100), min_size=24, max_size=60))
def test_no_smaller_difference_is_seen_than_is_looked_for(ratios: list[float]) -> None:
    seen = least_seen(ratios)
    assert seen is not None
    assert seen >= FACTOR
    assert least_seen([1.0] * len(ratios)) == FACTOR
    assert least_seen([1 / each for each in ratios]) == pytest.approx(seen)
    assert least_seen(ratios[:23]) is None


@pytest.mark.parametrize("defaults", [24, 50, 51, 101, 200])
@pytest.mark.parametrize("spread", [0.01, 0.2])
def test_nine_in_ten_differences_are_seen_that_a_run_says_are(defaults: int, spread: float) -> None:
    """Pairs of starts that are disturbed far more often by much than normal ones: Student's t of 2 degrees."""
    generator = np.random.default_rng(1)
    seen = 0
    runs = 2000
    for _ in range(runs):
        factor = least_seen(np.exp(spread * generator.standard_t(2, defaults)).tolist())
        assert factor is not None
        seen += suspected((factor * np.exp(spread * generator.standard_t(2, MOST_PAIRS))).tolist())
    assert seen >= 0.9 * runs


@needs_mpi
def test_an_algorithm_of_ours_runs_beside_every_default(mpi: Mpi) -> None:
    ours = own_catalogue(mpi)
    for collective in COLLECTIVES.keys() - {"null"}:
        info = ours.info(collective, reference(ours, collective))
        assert info is not None
        assert all(info.restrictions.admit(ranks) for ranks in range(1, 9))


def checked(
    mpi: Mpi,
    folder: Path,
    sizes: str = "8",
    beneath: Sequence[Path] = (),
    launcher: Path | None = None,
    over: Callable[[], bool] = lambda: False,
) -> tuple[CampaignPlan, list[str]]:
    """The plan of broadcasts on 3 and 4 ranks once their times were compared, and what was said.

    `beneath` is preloaded, `launcher` takes the place of the library's, and `over` tells when time is up.
    """
    study = compose(["bcast"], {"algorithms": "default", "ranks": "3,4", "sizes": sizes, "starts": "shared"})
    session = Session.prepare(study, str(mpi.mpirun), oversubscribe=True)
    environment = preload(mpi, True, *beneath)
    groups = tuple(replace(group, environment=environment) for group in session.plan.groups)
    said: list[str] = []
    with session.open(folder) as store:
        timer = WorldTimer(
            plan=replace(session.plan, groups=groups, mpi=replace(mpi, mpirun=launcher or mpi.mpirun)),
            store=store,
            programs=build(mpi),
            ours=own_catalogue(mpi),
            stop=lambda: False,
            over=over,
            timeout=120.0,
            told=said.append,
        )
        return timer.apart_by_times(), said


@needs_mpi
@ONE_OF_EACH
def test_rank_counts_share_starts_where_nothing_differs(mpi: Mpi, tmp_path: Path) -> None:
    # On ranks that spin on shared cores one default in 25 that is the same is believed to differ: once in 15,000 times
    # it is in three checks.
    for check in range(3):
        folder = tmp_path / str(check)
        plan, said = checked(mpi, folder)
        assert not (folder / "results.jsonl").exists()
        assert said[0].endswith("2 starts, at most 10")
        if [group.rank_counts for group in plan.groups] == [(3, 4)]:
            break
    assert [(group.ranks, group.rank_counts) for group in plan.groups] == [(4, (3, 4))]
    assert said[1].startswith("where rank counts share starts, times show no difference between the library's own ")


@needs_mpi
@ONE_OF_EACH
def test_a_default_that_takes_longer_among_more_ranks_keeps_its_starts(mpi: Mpi, tmp_path: Path) -> None:
    library = tmp_path / "libasks.so"
    source = Path(__file__).with_name("asks_the_world.cpp")
    subprocess.run([str(mpi.cxx), "-O1", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    plan, said = checked(mpi, tmp_path / "c", beneath=[library])
    assert [(group.ranks, group.rank_counts) for group in plan.groups] == [(4, (4,)), (3, (3,))]
    assert any(
        text.startswith("starts of their own: 3 ranks by core: among 4 the library's own bcast of ") for text in said
    )


@needs_mpi
def test_a_rank_count_that_cannot_be_timed_keeps_its_starts(tmp_path: Path) -> None:
    launcher = tmp_path / "mpirun"
    launcher.write_text("#!/bin/sh\necho no slots left\nexit 1\n")
    launcher.chmod(0o755)
    mpi = FOUND[0]
    plan, said = checked(mpi, tmp_path / "c", launcher=launcher)
    assert [(group.ranks, group.rank_counts) for group in plan.groups] == [(4, (4,)), (3, (3,))]
    assert said[1:] == [
        f"not timed: bcast {mpi.kind}/default, 3 ranks, 8 B: died: no slots left",
        "not timed: 1 cell after it",
        "starts of their own: 3 ranks by core: the library's own choice couldn't be timed both ways",
    ]


@needs_mpi
@pytest.mark.parametrize("sizes", ["8", "8,16"])
def test_a_default_that_is_too_short_for_the_clock_is_said(
    sizes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def proportions(
        _timer: WorldTimer, _group: Group, defaults: Sequence[PlannedCell]
    ) -> dict[PlannedCell, float | None]:
        return {each: None if each.cell.message_bytes == 8 else 1.0 for each in defaults}

    monkeypatch.setattr(WorldTimer, "_proportions", proportions)  # no call here is so short
    plan, said = checked(FOUND[0], tmp_path / "c", sizes)
    short = "it, or ours beside it, is under the clock's resolution"
    assert said[1] == f"not timed: bcast {FOUND[0].kind}/default, 3 ranks, 8 B: {short}"
    if sizes == "8":
        why = f"the library's own choice couldn't be compared: {short}"
        assert said[2:] == [f"starts of their own: 3 ranks by core: {why}"]
        assert [group.rank_counts for group in plan.groups] == [(4,), (3,)]
    else:
        assert said[2].endswith("may miss larger ones: how large, 1 cell is too few to tell")
        assert [group.rank_counts for group in plan.groups] == [(3, 4)]


@needs_mpi
def test_rank_counts_that_no_time_is_left_to_check_keep_their_starts(tmp_path: Path) -> None:
    plan, said = checked(FOUND[0], tmp_path / "c", over=lambda: True)
    assert [(group.ranks, group.rank_counts) for group in plan.groups] == [(4, (4,)), (3, (3,))]
    assert said[1:] == ["starts of their own: 3 ranks by core: half of the budget was spent before they were checked"]
    assert not starts(tmp_path / "c")


class Notes:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def started(self, launch: int, group: Group, cells: int) -> None: ...

    def measured(self, result: LaunchResult) -> None: ...

    def note(self, text: str) -> None:
        self.texts.append(text)


@needs_mpi
@pytest.mark.parametrize("mpi", [*dict.fromkeys((*FOUND[:1], *AT_ONCE))], ids=label)
def test_a_check_ends_with_half_of_the_budget_and_the_rest_is_measured(
    mpi: Mpi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "mpirun"  # no check comes to its end
    launcher.write_text(f'#!/bin/sh\ncase "$*" in *proof-*) exec sleep 600;; esac\nexec {mpi.mpirun} "$@"\n')
    launcher.chmod(0o755)
    how = {"algorithms": "default", "ranks": "3,4", "sizes": "8", "starts": "shared", "budget": "10s", "launches": 1}
    session = Session.prepare(compose(["bcast"], how), str(mpi.mpirun), oversubscribe=True)
    session.plan = replace(session.plan, mpi=replace(mpi, mpirun=launcher))
    monkeypatch.setattr("timpani.campaign.run.session.build", lambda _: build(mpi))  # not anew for another launcher
    notes = Notes()
    session.measure(session.open(tmp_path / "c"), notes, None)
    why = "starts of their own: 3 ranks by core: half of the budget was spent before they were checked"
    assert why in notes.texts
    assert all(line["world"] == line["ranks"] for line in results(tmp_path / "c"))
    checks = [start["ended"] for start in starts(tmp_path / "c") if start["launch"] is None]
    assert set(checks) <= {"stopped"}  # none where a busy machine took half of the budget to begin
