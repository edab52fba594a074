"""A campaign next to what a study published: its times, what is doubtful in them, and what it concluded."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import polars as pl

from timpani.campaign.folder.load import Campaign, Statistic, load
from timpani.campaign.read.doubts import Doubt
from timpani.campaign.read.message_locality import without_pairs
from timpani.campaign.read.study_names import by_statistic, notes_on, study_label, with_study_names
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.report.document.table import Table, Value, rows
from timpani.report.document.text import text_of
from timpani.report.figures.columns import MESSAGES
from timpani.report.figures.status import status_words
from timpani.report.tables.algorithm_tables import shows_throughput, status_parts
from timpani.report.tables.coverage import coverage
from timpani.studies.agreement import (
    Agreement,
    Unpaired,
    agreement,
    agreement_object,
    agreement_text,
    pair_times,
    unpaired,
)
from timpani.studies.claims_text import Checked, check_claims, claims_object, claims_text
from timpani.studies.tables import (
    COMPARISON,
    Published,
    is_import_of,
    published_doubts,
    published_times,
    read_published,
)
from timpani.study.operations import title_of
from timpani.study.schema import MEASURED_US


def compared_with_published(
    folder: Path, name: str, statistic: Statistic | None, as_data: bool
) -> str | dict[str, Any]:
    """The campaign in `folder` next to the published study or table `name`: as text, or as an object for JSON.

    statistic  by which conclusions are checked; None: that of the study's tables
    """
    table = read_published(name, COMPARISON)
    campaign = by_statistic(load(folder), statistic or table.statistic)
    if as_data:  # data have the names of the algorithms that were measured
        return PublishedComparison.compare(campaign, table).as_object
    return PublishedComparison.compare(with_study_names(campaign), table).text


@dataclass(frozen=True)
class PublishedComparison:
    """How a campaign and a study agree.

    campaign   with the names that its output shows
    times      of the study, columns as `published_times` has them, by these names
    is_itself  whether the campaign is the published table, imported
    """

    campaign: Campaign
    table: Published
    times: pl.DataFrame
    found: Agreement
    left_out: Unpaired
    is_itself: bool
    doubts: list[Doubt]
    checked: list[Checked]

    @classmethod
    def compare(cls, campaign: Campaign, table: Published) -> Self:
        """Compare them. Conclusions are checked against the campaign's statistic, times against its OSU averages."""
        cells = without_pairs(estimate_cells(raced_results(campaign)))
        shown = pl.struct("collective", "label").map_elements(
            lambda row: study_label(campaign, row["collective"], row["label"]), return_dtype=pl.String
        )
        times = published_times(table, campaign.header.mpi.kind).with_columns(label=shown)
        is_itself = is_import_of(campaign.header, table)
        pairs = pair_times(cells, times)
        return cls(
            campaign,
            table,
            times,
            agreement(pairs.clear() if is_itself else pairs),
            unpaired(cells, times),
            is_itself,
            published_doubts(table),
            check_claims(table, campaign),
        )

    @property
    def _simulated(self) -> bool:
        return bool(self.campaign.results["simulated"].any())

    @property
    def text(self) -> str:
        """Agreement, a table of each message, doubts and conclusions, and what stands in for what they name."""
        title = self.table.title
        if self.is_itself:
            agreeing = f"This campaign is the published table itself, so nothing here was measured: {title}\n"
        elif self.times.is_empty():
            agreeing = f"No times were published, so that only the conclusions are checked: {title}\n"
        else:
            agreeing = agreement_text(self.found, self.left_out, title, self._simulated)
        tables = [] if self.is_itself else message_times_tables(self.campaign, self.times, title)
        doubts = "\n- ".join(["Doubts about the published table:", *(doubt.text for doubt in self.doubts)]) + "\n"
        conclusions = claims_text(self.table, self.checked, self._simulated, self.campaign.statistic)
        parts = [*filter(None, (agreeing, text_of(tables), doubts if self.doubts else "", conclusions))]
        notes = notes_on(self.campaign.stand_ins, "\n".join(parts))
        return "\n".join([*parts, *(["\n".join(notes) + "\n"] if notes else [])])

    @property
    def as_object(self) -> dict[str, Any]:
        """For JSON: every correlation, every place and all numbers behind a conclusion."""
        values = agreement_object(self.found, self.left_out, self.table.name, self._simulated, self.is_itself)
        return values | {
            "statistic": self.campaign.statistic,
            "doubts": [vars(doubt) for doubt in self.doubts],
            "claims": claims_object(self.checked),
        }


_ON = ("collective", "placement", "label", "ranks", "message_bytes")


def message_times_tables(campaign: Campaign, published: pl.DataFrame, title: str) -> list[Table]:
    """A table for each operation and pair of ranks: a row for each size with this campaign's OSU average, the median
    over launches, and its interval; the published value; and their ratio, over 1 where this campaign's is larger.

    published  columns as `published_times` has them
    """
    cells = without_pairs(estimate_cells(raced_results(by_statistic(campaign, "osu")))).filter(
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
    entries = []
    for row in part.sort("message_bytes").iter_rows(named=True):
        ends = row["ci_low_us"], row["ci_high_us"]
        values = [row["time_us"], row["published_us"], *ends]
        here, printed, low, high = values
        if in_throughput:
            here, printed, high, low = (row["message_bytes"] / each if each else None for each in values)
        assert here is not None
        assert printed is not None
        ratio = Value(here / printed, show="{:.2f}".format)
        entries.append((row["message_bytes"], Value(here, low, high), printed, ratio))
    statuses = [status_words(status) for status in status_parts(part)]
    notes = [f"Some or all times here: {', '.join(statuses)}."] if statuses else []
    return Table(
        "messages",
        ("size (B)", "here", "published", "here / published"),
        rows(entries),
        f"{title_of(collective)}, placed by {placement}: OSU's average here and published ({unit}): {title}",
        f"{coverage(part)} interval".strip(),
        footnotes=tuple(notes),
    )
