"""The columns that name what a row is about."""

from dataclasses import fields

import polars as pl

from timpani.study.cell import Algorithm, Cell
from timpani.study.schema import ALGORITHM, CELL, CURVE, MACHINE_CELL, POINT, SWEEP, cell_columns, cell_of, schema

CHAIN = Cell("bcast", Algorithm("openmpi", "chain", (("fanout", 4), ("segment_bytes", 8))), 2, "core", 64, "warm")


def test_the_columns_of_a_cell_name_it_whole() -> None:
    assert tuple(cell_columns(CHAIN)) == CELL
    assert cell_of(cell_columns(CHAIN)) == CHAIN
    assert set(CELL) == {field.name for field in fields(Cell)} | set(ALGORITHM)


def test_a_frame_of_the_schema_holds_what_a_cell_has() -> None:
    frame = pl.DataFrame([cell_columns(CHAIN)], schema=schema(*CELL), orient="row")
    assert cell_of(frame.row(0, named=True)) == CHAIN


def test_keys_say_the_same_things() -> None:
    """An algorithm at a point is a cell, and so is a curve at a size."""
    assert {*POINT, *ALGORITHM} == {*CURVE, "message_bytes"} == {*SWEEP, *ALGORITHM, "message_bytes"} == {*MACHINE_CELL}
