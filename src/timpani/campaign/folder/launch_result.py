"""The record of a campaign: what was measured, one `LaunchResult` for each cell in each launch.

docs/campaign-folder.md has the files.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any, get_args, get_type_hints

import polars as pl
from pydantic import TypeAdapter, with_config
from typing_extensions import TypedDict

from timpani.campaign.folder.fields import (
    STRICT,
    CellFields,
    Count,
    Hash,
    InterleavingId,
    LaunchNumber,
    Message,
    Name,
    Part,
    Proportion,
    Recorded,
    Summary,
    Time,
    recorded_fields,
)
from timpani.study.cell import Cell
from timpani.study.schema import CELL, cell_columns, cell_of, schema


@dataclass(frozen=True)
class LaunchResult:
    """One cell in one launch, summarized from its raw samples: the table of what results.jsonl records of it."""

    cell: Cell
    launch: Annotated[LaunchNumber, Recorded("number, from 1")]
    machine: Annotated[Name, Recorded("its name")]
    median_us: Annotated[
        Time | None,
        Recorded(
            "median over repetitions of the completion: last rank's end minus first rank's start, on the common clock,"
            " or minus the last rank's start if an [arrival pattern](methodology.md#arrival-patterns) is injected;"
            " null where the cell failed, and in imports of averages alone"
        ),
    ] = None
    ci_low_us: Annotated[
        Time | None,
        Recorded(
            "lower end of its 95 % interval inside this launch, widened for the repetitions' serial correlation; of"
            " imports [that of the next launch](methodology.md#warm-up-and-the-end-of-a-cell) of the same job"
        ),
    ] = None
    ci_high_us: Annotated[Time | None, Recorded("upper end of that interval")] = None
    osu_avg_us: Annotated[
        Time | None,
        Recorded(
            "mean over valid repetitions of the mean over ranks of end − start",
            Summary(
                "mean",
                "what OSU's benchmarks print: mean over ranks of each rank's mean of end − start; mean over launches",
            ),
        ),
    ] = None
    osu_min_us: Annotated[
        Time | None,
        Recorded(
            "least of the ranks' means over all repetitions, invalid ones too, so that the average can lie just"
            " outside",
            Summary("mean", "least of the ranks' means, as OSU's `-f` prints it; mean over launches"),
        ),
    ] = None
    osu_max_us: Annotated[
        Time | None,
        Recorded(
            "largest of these means",
            Summary("mean", "largest of the ranks' means, as OSU's `-f` prints it; mean over launches"),
        ),
    ] = None
    skew_us: Annotated[
        Time | None,
        Recorded(
            "median of last start − first start",
            Summary("median", "median over launches of the median of last start − first start"),
        ),
    ] = None
    repetitions: Annotated[
        Count,
        Recorded(
            "valid ones",
            Summary("sum", "repetitions in all of them together; one may hold several short messages"),
        ),
    ] = 0
    outlier_share: Annotated[
        Proportion | None,
        Recorded(
            "share of repetitions beyond Q3 + 1.5 IQR",
            Summary(
                "mean",
                "share of repetitions beyond Q3 + 1.5 IQR; mean over launches. Outliers are counted, never removed",
            ),
        ),
    ] = None
    bimodal: Annotated[
        bool,
        Recorded(
            "the repetitions fall into two separated groups",
            Summary(
                "most",
                "in most launches the repetitions fall into two separated groups, so that the median describes one of"
                " them",
            ),
        ),
    ] = False
    converged: Annotated[
        bool,
        Recorded(
            "half of that interval is at most `precision` of the median; always true if the number of"
            " repetitions (`osu` method) or of rounds (race) is fixed"
        ),
    ] = True
    skewed: Annotated[bool, Recorded("median skew over a tenth of the median completion")] = False
    total_us: Annotated[
        Time | None,
        Recorded(
            "with an arrival pattern: median over repetitions of last end − first start; else null",
            Summary("median", "with an arrival pattern: last end − first start, median over launches; else empty"),
        ),
    ] = None
    lateness_us: Annotated[
        Time | None,
        Recorded(
            "with an arrival pattern: the largest lateness of a rank in this launch; else null",
            Summary("median", "with an arrival pattern: the largest lateness of a rank, median over launches"),
        ),
    ] = None
    lateness_error_us: Annotated[
        Time | None,
        Recorded(
            "median over repetitions of the largest difference between a rank's lateness and the injected one; null"
            " without an arrival pattern",
            Summary("median", "how far lateness was from the injected one, of the worst rank; median over launches"),
        ),
    ] = None
    lateness_missed: Annotated[
        bool,
        Recorded("that difference is over 1 % of the largest lateness and over 1 µs"),
    ] = False
    oversubscribed: Annotated[bool, Recorded("more ranks than cores")] = False
    simulated: Annotated[bool, Recorded("predicted, not measured")] = False
    effective_size: Annotated[
        Time | None,
        Recorded(
            "number of independent repetitions to which the correlated ones"
            " [are equivalent](methodology.md#warm-up-and-the-end-of-a-cell) for the median's interval",
            copied=True,
        ),
    ] = None
    interleaving: Annotated[
        InterleavingId | None,
        Recorded(
            "equal for cells that were [interleaved](decisions/0004-switching-inside-one-launch.md):"
            " the start and the time on its clock; null for a cell measured alone"
        ),
    ] = None
    relative: Annotated[
        Time | None,
        Recorded(
            "of interleaved cells: the time over the geometric mean of all cells of the round,"
            " geometric mean over rounds. The ratio of two cells is the ratio of their `relative`"
        ),
    ] = None
    relative_error: Annotated[
        Time | None,
        Recorded("standard error of the logarithm of `relative`, from the rounds; null for one round"),
    ] = None
    rounds: Annotated[Count | None, Recorded("how many rounds of bursts the cell had")] = None
    setup_s: Annotated[
        Time | None,
        Recorded("seconds of the point before its rounds, for checks and warm-up; the same for all its cells"),
    ] = None
    bursts_s: Annotated[
        Time | None,
        Recorded("seconds of the point's rounds"),
    ] = None
    probe_before_ns: Annotated[
        Time | None,
        Recorded(
            "the probe before the point: the time of a cache line one way between the cores of two"
            " ranks, or of a message between two nodes; median over pairs of ranks, null without a"
            " probe"
        ),
    ] = None
    probe_after_ns: Annotated[Time | None, Recorded("the same after the point")] = None
    error: Annotated[Message | None, Recorded("why the cell failed, with what the rank printed; else null")] = None
    sampled: Annotated[
        bool | None,
        Recorded("whether a race only [sampled](methodology.md#races) the point in this launch; null outside a race"),
    ] = None
    job: Annotated[
        Name | None,
        Recorded("the job that measured it, one of jobs.jsonl; null if unknown, and in simulations"),
    ] = None
    part: Annotated[
        Part | None, Recorded("the start that it came from, the folder under `launches/`; null in imports of logs")
    ] = None
    samples: Annotated[
        Hash | None,
        Recorded("SHA-256 of the line of its raw samples, without the line feed, or null"),
    ] = None

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


Matrix = Sequence[Sequence[int]]
"""Messages or bytes from each rank to each: a row for each sender."""


@dataclass(frozen=True)
class Proof:
    """Messages and bytes that ranks sent to each other in one untimed call of a cell, in the start `part`."""

    cell: Cell
    messages: Matrix
    bytes: Matrix
    part: str | None = None


_COLUMN_TYPES: dict[Any, pl.DataType] = {int: pl.Int64(), float: pl.Float64(), bool: pl.Boolean(), str: pl.String()}


def _column_type(hint: Any) -> pl.DataType:
    """`float | None` is a column of floats: any column may hold nulls."""
    [kind] = {*get_args(hint), hint} & _COLUMN_TYPES.keys()
    return _COLUMN_TYPES[kind]


RECORDED = recorded_fields(LaunchResult)
"""What is known of each field of a result."""

COPIED = tuple(name for name, field in RECORDED.items() if field.copied)
"""Fields that are in the raw record, under the same name, what they are in a result."""


def _line_type() -> Any:
    """The type of a line of results.jsonl: the cell's columns and the fields of LaunchResult."""
    hints = get_type_hints(LaunchResult, include_extras=True)
    own = {name: hint for name, hint in hints.items() if name != "cell"}
    typed_dict: Any = TypedDict  # which takes no fields that are computed, say type checkers
    return with_config(STRICT)(typed_dict("ResultFields", {**get_type_hints(CellFields, include_extras=True), **own}))


RESULT: TypeAdapter[dict[str, Any]] = TypeAdapter(_line_type())
"""A line of results.jsonl."""

RESULT_SCHEMA: dict[str, pl.DataType] = {
    **schema(*CELL),
    **{name: _column_type(hint) for name, hint in get_type_hints(LaunchResult).items() if name != "cell"},
}
"""The columns of a campaign's results: a `LaunchResult` a row."""
