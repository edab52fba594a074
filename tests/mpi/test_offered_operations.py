"""Operations other than collectives are offered as the measuring program has them, with the same parameters."""

import pytest

from tests.mpi.conftest import RunPlan, every_mpi
from timpani.campaign.plan.from_study import indivisible
from timpani.libraries.available import point_to_point_catalogue, transposes_catalogue
from timpani.libraries.catalogue import AlgorithmInfo
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.operations import OPERATIONS

RANKS = 2


def algorithms(mpi: Mpi) -> list[AlgorithmInfo]:
    catalogues = (point_to_point_catalogue(mpi), transposes_catalogue())
    return [each for catalogue in catalogues for each in catalogue]


def test_every_operation_is_offered(mpi: Mpi) -> None:
    beside_collectives = {name for name, operation in OPERATIONS.items() if operation.kind != "collective"}
    assert {info.collective for info in algorithms(mpi)} == beside_collectives


@every_mpi
def test_the_measuring_program_runs_all_that_is_offered(run_plan: RunPlan, mpi: Mpi) -> None:
    lines = []
    for number, info in enumerate(algorithms(mpi)):
        values = {parameter.name: parameter.default for parameter in info.parameters}
        if "pairs" in values:
            values["pairs"] = RANKS // 2
        what = Algorithm("", info.name, tuple(sorted(values.items())))
        lines.append(f"cell {number} {info.collective} 64 warm - - {what}")
    record = run_plan(RANKS, lines)
    assert [line for line in record if "mistake" in line] == []
    assert sum("measured" in line for line in record) == len(lines)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("rows", [0, 6])
def test_both_agree_on_which_matrices_can_be_transposed(run_plan: RunPlan, ranks: int, rows: int) -> None:
    sizes = range(1, 41)
    way = Algorithm("", "alltoall", (("rows", rows),) if rows else ())
    lines = ["method call", "repetitions 1", *(f"cell {size} transpose {size} warm - - {way}" for size in sizes)]
    mistaken = {line["cell"] for line in run_plan(ranks, lines) if "mistake" in line}
    assert mistaken == {size for size in sizes if indivisible(way, ranks, size)}
    assert 0 < len(mistaken) < len(sizes)
