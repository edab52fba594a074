"""The record of a campaign: what was measured, one `LaunchResult` for each cell in each launch.

docs/campaign-folder.md has the files and their fields.
"""

from dataclasses import asdict, dataclass
from typing import Any, get_args, get_type_hints

import polars as pl

from timpani.study.cell import Cell
from timpani.study.schema import CELL, cell_columns, cell_of, schema


@dataclass(frozen=True)
class LaunchResult:
    """One cell in one launch, summarised from its raw samples. Times are microseconds.

    completion   C_i = max over ranks of end − min over ranks of start, on the common clock; `median_us` and its
                 95 % interval inside the launch (`ci_low_us`, `ci_high_us`) are C's. None in imported OSU output,
                 and where the cell failed. The interval is None in records older than `effective_size`, which is how
                 many independent repetitions the correlated ones are worth for it.
    osu_avg_us   mean over ranks of each rank's mean of (end − start), as OSU's benchmarks print it;
                 osu_min_us and osu_max_us are the extremes of those per-rank means.
    skew_us      median over repetitions of max start − min start.
    in_turn      what was measured in turn, burst by burst, has the same value here: the start of the program and when;
                 None of what was measured by itself. `relative` is the cell's time over the geometric mean of all
                 cells' of the same round of bursts: ratios between cells that share `in_turn` follow from it.
                 `relative_error` is the standard error of its logarithm by how its `rounds` differ; None of one round,
                 and in older records, as are `rounds`.
    setup_s, turns_s   seconds that the whole point took before its turns, warm-up included, and in them; None in older
                 records
    probe_before_ns, probe_after_ns   the state of the machine before and after: what a cache line takes one way between
                 two cores of ranks that share memory, or a message between two nodes; median over pairs of ranks. None
                 where nobody looked.
    looked_at    whether a race had only a few algorithms measured at the point in this launch; None in older records
    part         the start of the MPI program that it came from; None in imports
    world        how many ranks that had: of more than the cell's the first ran it, and the others slept. None in
                 imports, and in records older than such starts, which had as many as the cell
    samples      SHA-256 of its line among the raw samples; None where there is none, as of a cell that hung
    """

    cell: Cell
    launch: int
    machine: str
    median_us: float | None = None
    ci_low_us: float | None = None
    ci_high_us: float | None = None
    osu_avg_us: float | None = None
    osu_min_us: float | None = None
    osu_max_us: float | None = None
    skew_us: float | None = None
    repetitions: int = 0
    outlier_share: float | None = None  # share of repetitions beyond Q3 + 1.5 IQR
    bimodal: bool = False
    converged: bool = True
    skewed: bool = False  # median skew over 10 % of the median completion
    oversubscribed: bool = False
    simulated: bool = False
    effective_size: float | None = None
    in_turn: str | None = None
    relative: float | None = None
    relative_error: float | None = None
    rounds: int | None = None
    setup_s: float | None = None
    turns_s: float | None = None
    probe_before_ns: float | None = None
    probe_after_ns: float | None = None
    error: str | None = None  # why the cell failed, with what the rank printed
    looked_at: bool | None = None
    part: str | None = None
    world: int | None = None
    samples: str | None = None

    def as_line(self) -> dict[str, Any]:
        """The flat JSON object of results.jsonl: the cell's columns spelled out, then the measured ones."""
        values = asdict(self)
        del values["cell"]
        return {**cell_columns(self.cell), **values}

    @classmethod
    def from_line(cls, line: dict[str, Any]) -> "LaunchResult":
        """The inverse of `as_line`, of fields that were checked."""
        rest = {name: value for name, value in line.items() if name not in CELL}
        return cls(cell=cell_of(line), **rest)


@dataclass(frozen=True)
class Proof:
    """Messages and bytes that each rank sent to each other in one untimed call of a cell, in the start `part`.

    Shape (ranks, ranks): row = sender.
    """

    cell: Cell
    messages: tuple[tuple[int, ...], ...]
    bytes: tuple[tuple[int, ...], ...]
    part: str | None = None


_COLUMN_TYPES: dict[Any, pl.DataType] = {int: pl.Int64(), float: pl.Float64(), bool: pl.Boolean(), str: pl.String()}


def _column_type(hint: Any) -> pl.DataType:
    """`float | None` is a column of floats: any column may hold nulls."""
    [kind] = {*get_args(hint), hint} & _COLUMN_TYPES.keys()
    return _COLUMN_TYPES[kind]


RESULT_SCHEMA: dict[str, pl.DataType] = {
    **schema(*CELL),
    **{name: _column_type(hint) for name, hint in get_type_hints(LaunchResult).items() if name != "cell"},
}
"""The columns of a campaign's results: a `LaunchResult` a row."""
