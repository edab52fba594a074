"""Timpani's algorithms on real ranks: right data wherever they apply."""

from pathlib import Path

import pytest

from tests.mpi.conftest import RunPlan, on_ranks, one_mpi
from timpani.native.mpi import Mpi
from timpani.schedules.algorithms.verification import own_catalogue
from timpani.study.operations import COLLECTIVES

SIZES = (0, 8, 56, 5000)


@on_ranks(openmpi=(3, 8), mpich=(2,))
def test_every_algorithm_gives_right_data_at_every_rank_count(run_plan: RunPlan, mpi: Mpi, ranks: int) -> None:
    spins = mpi.kind == "mpich" and ranks > 2
    sizes = (56,) if spins else (0, 56, 5000) if ranks > 5 else SIZES
    cells = [
        f"{info.collective} {size} warm - - {info.name}"
        for info in own_catalogue(mpi)
        if info.collective in COLLECTIVES  # the others can't be measured yet
        if info.restrictions.admit(ranks)
        for size in (sizes if COLLECTIVES[info.collective].sized else (0,))
    ]
    numbered = [f"cell {number} {cell}" for number, cell in enumerate(cells)]
    record = run_plan(ranks, numbered, slot_ns=200_000)
    assert [(line["mistake"], cells[line["cell"]]) for line in record if "mistake" in line] == []
    assert sum("measured" in line for line in record) == len(cells)


@one_mpi
@pytest.mark.parametrize("datatype", ["int32", "double"])
def test_every_algorithm_gives_right_data_in_other_types_under_the_sanitizers(
    run_plan: RunPlan, mpi: Mpi, sanitized: Path, datatype: str
) -> None:
    cells = [
        f"{info.collective} 1000 warm - - {info.name}"
        for info in own_catalogue(mpi)
        if info.collective in COLLECTIVES and COLLECTIVES[info.collective].sized
        if info.restrictions.admit(3)
    ]
    numbered = [f"cell {number} {cell}" for number, cell in enumerate(cells)]
    record = run_plan(3, [f"datatype {datatype}", *numbered], slot_ns=200_000, programs=sanitized)
    assert [(line["mistake"], cells[line["cell"]]) for line in record if "mistake" in line] == []
    assert sum("measured" in line for line in record) == len(cells)
