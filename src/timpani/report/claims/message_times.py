"""Times of messages next to published ones, size by size, as studies of two ranks print them."""

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.cell_table import estimate_cells
from timpani.campaign.read.message_pairs import without_pairs
from timpani.campaign.read.statistic import by_statistic
from timpani.charts.marks.latency_columns import coverage
from timpani.charts.marks.row_filter import MESSAGES
from timpani.charts.marks.status import status_words
from timpani.report.tables.algorithm_tables import interval, shows_throughput, significant, status_parts
from timpani.report.tables.report_table import MISSING, Table, Value
from timpani.study.operations import title_of
from timpani.study.schema import MEASURED_US
from timpani.tuning.compare.agreement import pair_times

_ON = ("collective", "placement", "label", "ranks", "message_bytes")


def message_times_tables(campaign: Campaign, published: pl.DataFrame, title: str) -> list[Table]:
    """A table for each operation and pair of ranks: a row for each size with this campaign's OSU average, the median
    over launches, and its interval; the published value; and their ratio, over 1 where this campaign's is larger.

    published  columns as `published_times` has them
    """
    cells = without_pairs(estimate_cells(by_statistic(campaign, "osu").raced)).filter(
        pl.col("collective").is_in(MESSAGES)
    )
    pairs = pair_times(cells.with_columns(osu_avg_us=MEASURED_US), published).drop_nulls("published_us")
    bounds = cells.select(*_ON, "ci_low_us", "ci_high_us", "ci_coverage", "status").unique(_ON)
    joined = pairs.join(bounds, on=_ON, how="left", maintain_order="left")
    return [
        _table(part, str(collective), str(placement), title)
        for (collective, placement), part in joined.group_by("collective", "placement", maintain_order=True)
    ]


def _table(part: pl.DataFrame, collective: str, placement: str, title: str) -> Table:
    in_throughput = shows_throughput(collective)
    unit = "MB/s" if in_throughput else "µs"
    rows = []
    for row in part.sort("message_bytes").iter_rows(named=True):
        ends = row["ci_low_us"], row["ci_high_us"]
        values = [row["time_us"], row["published_us"], *ends]
        here, printed, low, high = values
        if in_throughput:
            here, printed, high, low = (row["message_bytes"] / each if each else None for each in values)
        assert here is not None
        assert printed is not None
        rows.append(
            (
                str(row["message_bytes"]),
                (
                    Value(significant(here)),
                    Value(interval(low, high)) if low and high else MISSING,
                    Value(significant(printed)),
                    Value(f"{here / printed:.2f}"),
                ),
            )
        )
    statuses = [status_words(status) for status in status_parts(part)]
    notes = [f"Some or all times here: {', '.join(statuses)}."] if statuses else []
    covered = coverage(part)
    return Table(
        f"{title_of(collective)}, placed by {placement}: OSU's average here and published ({unit}): {title}",
        "size (B)",
        ("here", f"{covered} interval".strip(), "published", "here / published"),
        tuple(rows),
        footnotes=tuple(notes),
    )
