"""The columns of the cells' table, in their order: each is declared here, or as the summary of a recorded field.

The reference page of columns has these tables; `make tables` writes it.
"""

from dataclasses import dataclass
from typing import Literal

import polars as pl

from timpani.campaign.folder.launch_result import RECORDED, RESULT_SCHEMA
from timpani.stats.sample import LEVEL
from timpani.study.schema import BOUND, LOCALITY
from timpani.study.words import per_cent

ColumnType = Literal["text", "integer", "number", "true/false"]

_TYPES: dict[pl.DataType, ColumnType] = {
    pl.Int64(): "integer",
    pl.Float64(): "number",
    pl.Boolean(): "true/false",
    pl.String(): "text",
}


@dataclass(frozen=True)
class Column:
    """One column; `documented` is Markdown."""

    name: str
    type: ColumnType
    documented: str


SUMMARIES = {name: field.summary for name, field in RECORDED.items() if field.summary}
"""How recorded fields are summarized over launches, by their names."""


def _summary(name: str) -> Column:
    return Column(name, _TYPES[RESULT_SCHEMA[name]], SUMMARIES[name].documented)


STABLE = (
    Column(
        "collective",
        "text",
        "the operation, whether a collective or not: `bcast`, `allreduce`, `latency`, `transpose`, …",
    ),
    Column(
        "provider",
        "text",
        "whose algorithm it is: `openmpi`, `mpich`, `simgrid`; `timpani`; `composed` from the library's collectives;"
        " `imported` for OSU output",
    ),
    Column("algorithm", "text", "its name there; `default` is the library's choice if nothing is set"),
    Column("parameters", "text", "`name=integer,…` sorted by name; else empty"),
    Column("ranks", "integer", "size of the communicator"),
    Column(
        "placement",
        "text",
        "`core`, `socket` or `node`: how consecutive ranks are distributed; `ppr:N`: N on each node; `category:C:N`: a"
        " host file of that category, N on each node, its groups shuffled if a seed follows; `unknown` in imported"
        " OSU output",
    ),
    Column(
        "message_bytes",
        "integer",
        "as OSU's benchmarks count it: a block for scatter, gather, allgather, their v-forms (equal blocks), the"
        " all-to-alls and reduce_scatter_block, a message between two ranks, the whole matrix of a transpose, the"
        " vector otherwise; 0 for a barrier",
    ),
    Column("mode", "text", "state of the cache: `warm`, `rotate` or `flush`"),
    Column("machine", "text", "where it was measured"),
    Column(
        "median_us",
        "number",
        "median over launches of each launch's median completion: last rank's end minus first rank's start. Of messages"
        " between two ranks: [a message's time](methodology.md#messages-between-two-ranks), of `latency` half of a"
        " round trip",
    ),
    Column(
        "ci_low_us",
        "number",
        f"lower end of the distribution-free {per_cent(LEVEL)} interval of that median over launches; of two to five"
        " launches the"
        " smallest, so that the interval covers less (`ci_coverage`); empty for one launch and where it is simulated",
    ),
    Column("ci_high_us", "number", "upper end of that interval; of two to five launches the largest"),
    _summary("osu_avg_us"),
    Column("launches", "integer", "launches that succeeded"),
    _summary("repetitions"),
    Column("status", "text", "`ok`, or several of the words below joined by `+`"),
)
"""The columns that users' scripts rely on: their names, meaning and order stay."""

_THROUGHPUT = (
    "`message_bytes` / `median_us` (imported: / `osu_avg_us`), in 10⁶ B/s, of point-to-point operations and transposes;"
    " empty for others"
)

FURTHER = (
    Column(
        "arrival",
        "text",
        "how late ranks entered: `together`, or the [arrival pattern](methodology.md#arrival-patterns) that was"
        " injected; `median_us` then counts from the last rank's start",
    ),
    Column("variant", "text", "how it was started: `default`, or the name of a [variant](study-files.md#variants)"),
    Column(
        "label",
        "text",
        "algorithm with its parameters, and `@` with its variant unless that is `default`, as tables and figures show"
        " it",
    ),
    Column(
        "ci_coverage",
        "number",
        "probability that the interval covers the median: at least 0.95 from 6 launches on; empty where there is no"
        " interval",
    ),
    Column("jobs", "integer", "jobs that these launches ran in; of several, the median and its interval are over jobs"),
    Column(
        "relative_mad",
        "number",
        "spread of the launches: the median absolute deviation of their medians, over their median",
    ),
    *(_summary(name) for name in SUMMARIES if name not in {column.name for column in STABLE}),
    Column(
        "dropped",
        "text",
        "of a race (`--regret`): the last launch that measured the cell, and why it was dropped; else empty",
    ),
    Column(
        "race_ended",
        "text",
        "of a race: why it [ended at the point](methodology.md#races) without a decision among the cells that were"
        " left, such as `after 8 launches: would need about 45; 32 are allowed`; else empty",
    ),
    Column(
        "sampled",
        "true/false",
        "of a race: whether the cell's point was only [sampled](methodology.md#races); else empty",
    ),
    Column(
        "launches_needed",
        "integer",
        "launches that [a comparison takes](methodology.md#comparisons) at this point, by the number of algorithms"
        " there; empty of several jobs, simulated times and imported averages",
    ),
    Column("error", "text", "the first failed launch's cause"),
    Column("throughput_mb_per_s", "number", _THROUGHPUT),
    Column(
        "throughput_low_mb_per_s",
        "number",
        f"lower end of its {per_cent(LEVEL)} interval: `message_bytes` over `ci_high_us`",
    ),
    Column("throughput_high_mb_per_s", "number", "upper end of that interval: `message_bytes` over `ci_low_us`"),
)
"""The columns that `estimate_cells` adds to these; they may grow in number."""

ADDED = (
    Column(
        LOCALITY,
        "text",
        "how close the ranks of a point-to-point operation sat: `same core`, `same core complex` (they share the"
        " last-level cache), `same socket`, `same node`, `same switch`, `different switch`, or `different nodes` where"
        " the switches are unknown; several joined by commas; empty for others",
    ),
    Column(
        BOUND,
        "number",
        "lower bound for any algorithm, only for machines with known link rates such as labs: the"
        " time of the busiest link for the bytes that must cross it (`campaign/read/context.py`);"
        " else empty",
    ),
)
"""What `timpani show` adds, of the machine that a campaign ran on."""
