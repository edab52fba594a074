"""Collectives composed of the library's: right data on ranks dealt out over nodes and groups in many ways."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mpi.conftest import RunPlan, on_ranks, one_mpi
from timpani.libraries.catalogue import composed_catalogue
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.operations import COLLECTIVES

LAYOUTS: dict[str, Callable[[int], tuple[int, int]]] = {
    "blocks": lambda rank: (rank // 2, rank // 4),
    "round robin": lambda rank: (rank % 3, rank % 2),
    "uneven": lambda rank: (0, 0) if rank == 1 else (1 + rank % 4, rank % 4 // 2),
    "alone": lambda rank: (rank, rank % 3),
}
"""The node and the group of each rank. `round robin` on nodes that two groups claim: the lowest rank's word counts."""


def cells(sizes: tuple[int, ...] = (0, 8, 5000)) -> list[str]:
    """Every composed algorithm, with its communicators made once and in each call."""
    return [
        f"{info.collective} {size} warm - - {Algorithm('composed', info.name, parameters)}"
        for info in composed_catalogue()
        for parameters in ((), *([(("setup_each_call", 1),)] if info.parameters else []))
        for size in (sizes if info.collective in COLLECTIVES else (0,))
    ]


def places(layout: str, ranks: int) -> list[str]:
    return ["place {} {}".format(*LAYOUTS[layout](rank)) for rank in range(ranks)]


@on_ranks(openmpi=(5, 8), mpich=(3,))
@pytest.mark.parametrize("layout", LAYOUTS)
def test_all_give_right_data_wherever_they_apply(run_plan: RunPlan, mpi: Mpi, ranks: int, layout: str) -> None:
    spins = mpi.kind == "mpich" and ranks > 2
    asked = cells((5000,)) if spins else cells((0, 5000)) if ranks > 5 else cells()
    numbered = [f"cell {number} {cell}" for number, cell in enumerate(asked)]
    record = run_plan(ranks, [*places(layout, ranks), *numbered], slot_ns=200_000)
    nodes, groups = (len({LAYOUTS[layout](rank)[which] for rank in range(ranks)}) for which in (0, 1))
    too_few = "level" if nodes == 1 else "three_level" if groups == 1 else "nothing"
    mistaken = {asked[line["cell"]] for line in record if "mistake" in line}
    assert mistaken == {cell for cell in asked if too_few in cell}
    assert sum("measured" in line for line in record) == len(numbered) - len(mistaken)


@one_mpi
def test_they_touch_nothing_else_under_the_sanitizers(run_plan: RunPlan, mpi: Mpi, sanitized: Path) -> None:
    numbered = [f"cell {number} {cell}" for number, cell in enumerate(cells())]
    record = run_plan(5, ["datatype double", *places("uneven", 5), *numbered], slot_ns=200_000, programs=sanitized)
    assert [line for line in record if "mistake" in line] == []
    assert sum("measured" in line for line in record) == len(numbered)


@one_mpi
def test_on_one_node_a_cell_says_what_it_takes(run_plan: RunPlan, mpi: Mpi) -> None:
    record = run_plan(2, ["cell 0 bcast 8 warm - - composed/two_level", "cell 1 setup 0 warm - - composed/two_level"])
    said = {line["cell"]: line["mistake"] for line in record if "mistake" in line}
    assert said == dict.fromkeys((0, 1), "takes 2 nodes or more, and the ranks are on 1")
