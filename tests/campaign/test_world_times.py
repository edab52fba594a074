"""Rank counts share starts where the library's own choice takes as long on the first ranks of more: seen by times."""

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.campaign.live import starts
from tests.installed import FOUND, MPICHS, OPEN_MPIS, label, needs_mpi
from tests.preloading import preload
from timpani.campaign.plan import CampaignPlan
from timpani.campaign.session import Session
from timpani.campaign.world_times import FACTOR, WorldTimer, least_seen, reference, suspected
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.providers.own import own_catalogue
from timpani.study.compose import compose
from timpani.study.operations import COLLECTIVES

RATIOS = st.lists(st.floats(0.01, 100), min_size=1, max_size=6)

ONE_OF_EACH = pytest.mark.parametrize("mpi", [*OPEN_MPIS[:1], *MPICHS[:1]], ids=label)


@given(RATIOS)
def test_a_default_is_suspected_where_all_pairs_agree(ratios: list[float]) -> None:
    longer, shorter = (all(map(side, ratios)) for side in (lambda each: each > FACTOR, lambda each: each < 1 / FACTOR))
    assert suspected(ratios) == (longer or shorter)


@given(RATIOS, st.floats(0.01, 100))
def test_no_further_pair_raises_suspicion(ratios: list[float], further: float) -> None:
    assert suspected(ratios) or not suspected([*ratios, further])


@given(RATIOS)
def test_no_smaller_difference_is_seen_than_is_looked_for(ratios: list[float]) -> None:
    assert least_seen(ratios) >= FACTOR
    assert least_seen([1.0] * len(ratios)) == FACTOR
    assert least_seen([1 / each for each in ratios]) == pytest.approx(least_seen(ratios))


@needs_mpi
def test_an_algorithm_of_ours_runs_beside_every_default(mpi: Mpi) -> None:
    ours = own_catalogue(mpi)
    for collective in COLLECTIVES.keys() - {"null"}:
        info = ours.info(collective, reference(ours, collective))
        assert info is not None
        assert all(info.restrictions.admit(ranks) for ranks in range(1, 9))


def checked(
    mpi: Mpi, folder: Path, sizes: str = "8", beneath: Sequence[Path] = (), launcher: Path | None = None
) -> tuple[CampaignPlan, list[str]]:
    """The plan of broadcasts on 3 and 4 ranks once their times were compared, and what was said.

    `beneath` is preloaded, and `launcher` takes the place of the library's.
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
            timeout=120.0,
            told=said.append,
        )
        return timer.apart_by_times(), said


@needs_mpi
@ONE_OF_EACH
def test_rank_counts_share_starts_where_nothing_differs(mpi: Mpi, tmp_path: Path) -> None:
    plan, said = checked(mpi, tmp_path / "c")
    assert [(group.ranks, group.rank_counts) for group in plan.groups] == [(4, (3, 4))]
    assert said[0].endswith("2 starts, at most 10")
    assert said[1].startswith("where rank counts share starts, times show no difference between the library's own ")
    assert not (tmp_path / "c" / "results.jsonl").exists()


@needs_mpi
@ONE_OF_EACH
def test_a_default_that_takes_longer_among_more_ranks_keeps_its_starts(mpi: Mpi, tmp_path: Path) -> None:
    library = tmp_path / "libasks.so"
    source = Path(__file__).with_name("asks_the_world.cpp")
    subprocess.run([str(mpi.cxx), "-O1", "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    plan, said = checked(mpi, tmp_path / "c", "8,16", [library])
    assert [(group.ranks, group.rank_counts) for group in plan.groups] == [(4, (4,)), (3, (3,))]
    assert said[1].startswith("starts of their own: 3 ranks by core: among 4 the library's own bcast of ")
    assert len(said) == 2
    assert [start["ended"] for start in starts(tmp_path / "c")] == ["finished"] * 10


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
