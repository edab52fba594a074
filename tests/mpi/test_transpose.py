"""A matrix and its transpose: every element in its place, for every way, shape and datatype."""

from math import prod
from pathlib import Path

import pytest

from tests.mpi.conftest import RunPlan, on_ranks, one_mpi

BETWEEN_TWO = ("column_by_column", "nested_datatype", "packed", "plain_message")
ALONE = ("local_copy", "local_memcpy")
SHAPES = ((1, 7), (7, 1), (3, 5), (4, 4), (6, 10), (64, 33), (1, 1))
BYTES = {"uint8": 1, "int32": 4, "float": 4, "double": 8}


def cells(ways: tuple[str, ...], datatype: str) -> list[str]:
    """The plan's lines for each way to transpose each shape."""
    asked = [(way, shape) for way in ways for shape in SHAPES]
    return [f"datatype {datatype}"] + [
        f"cell {i} transpose {prod(shape) * BYTES[datatype]} warm - - {way}:rows={shape[0]}"
        for i, (way, shape) in enumerate(asked)
    ]


def ways(ranks: int) -> tuple[str, ...]:
    return (*ALONE, *(BETWEEN_TWO if ranks > 1 else ()), "alltoallv")


@on_ranks(openmpi=(1, 3, 4), mpich=(2,))
def test_every_element_arrives_in_its_place(run_plan: RunPlan, ranks: int) -> None:
    lines = cells(ways(ranks), "double")
    record = run_plan(ranks, lines, slot_ns=500_000)
    assert [line for line in record if "mistake" in line] == []
    assert sum("measured" in line for line in record) == len(lines) - 1


@one_mpi
@pytest.mark.parametrize("datatype", BYTES)
def test_every_datatype_is_transposed_under_the_sanitizers(run_plan: RunPlan, sanitized: Path, datatype: str) -> None:
    lines = cells(ways(3), datatype)
    record = run_plan(3, lines, programs=sanitized, slot_ns=500_000)
    assert sum("measured" in line for line in record) == len(lines) - 1


@pytest.mark.parametrize("mode", ["rotate", "flush"])
def test_cache_modes_keep_the_matrix_right(run_plan: RunPlan, mode: str) -> None:
    record = run_plan(2, [f"cell {i} transpose 4096 {mode} - - {way}" for i, way in enumerate(ways(2))])
    assert sum("measured" in line for line in record) == len(ways(2))


def test_alltoall_transposes_equal_blocks_and_refuses_others(run_plan: RunPlan) -> None:
    shapes = {(4, 6): True, (2, 2): True, (3, 6): False, (4, 5): False}
    lines = [f"cell {i} transpose {prod(shape)} warm - - alltoall:rows={shape[0]}" for i, shape in enumerate(shapes)]
    record = run_plan(2, lines)
    assert [("measured" in line) for line in record if "cell" in line] == list(shapes.values())
    assert "alltoall needs equal blocks, and 2 ranks don't divide both sides of 3 x 6" in record[6]["mistake"]


def test_rows_default_to_the_squarest_shape_and_must_fit(run_plan: RunPlan) -> None:
    # 36 elements are 6 x 6, which 2 ranks divide; 12 are 3 x 4, which they don't.
    whats = [(36, "alltoall"), (12, "alltoall"), (12, "packed:rows=5"), (0, "alltoallv"), (0, "nested_datatype")]
    record = run_plan(2, [f"cell {i} transpose {size} warm - - {what}" for i, (size, what) in enumerate(whats)])
    said = {line["cell"]: line.get("mistake", "") for line in record if "cell" in line}
    assert (said[0], said[3], said[4]) == ("", "", "")
    assert "both sides of 3 x 4" in said[1]
    assert said[2] == "12 elements fill no matrix of 5 rows"
