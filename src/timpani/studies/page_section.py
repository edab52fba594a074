"""The section of a report's page with tables as the studies set them."""

from dataclasses import replace

import polars as pl

from timpani.campaign.read.study_names import by_statistic
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.report.figures.columns import CALLS
from timpani.report.page.contents import Report
from timpani.report.page.sections import PageSection
from timpani.report.tables.algorithm_tables import with_unit
from timpani.report.tables.conditions import with_conditions
from timpani.report.tables.study_tables import study_tables
from timpani.study.schema import STATISTIC


def study_section(report: Report) -> PageSection:
    """The same cells as the studies set them, so that they can stand next to published tables."""
    campaign = by_statistic(report.campaign, "osu")
    raced = replace(
        raced_results(report.campaign), rows=campaign.results
    )  # the race went by medians, whatever is shown
    cells = with_conditions(estimate_cells(raced)).with_columns(pl.lit("osu").alias(STATISTIC))
    calls = cells.filter(CALLS)
    by_collective = study_tables(campaign, calls) if calls.height else {}
    return PageSection(
        "study-tables",
        "Tables by algorithm, with OSU’s average",
        105,
        (
            "A table for each algorithm, as studies with the OSU benchmarks print their times. OSU’s average, a "
            "mean over ranks and calls, is usually lower than the median completion, but disturbed calls raise it.",
        ),
        tables={with_unit(name): tables for name, tables in by_collective.items()},
        folds="all",
        narrow=True,
    )
