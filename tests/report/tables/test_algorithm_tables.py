"""The tables of times: algorithms next to each other, bold only where a difference is significant."""

import pytest

from timpani.campaign.folder.load import Campaign
from timpani.report.document.blocks import Table, Value
from timpani.report.page.contents import Report
from timpani.report.tables.algorithm_tables import latency_tables, with_best


def tables(report: Report, collective: str) -> list[Table]:
    return latency_tables(with_best(report.cells.filter(collective=collective), report.decisions))


def entry(table: Table, row: str, column: str) -> Value:
    return next(
        value for head, value in zip(table.column("Size"), table.column(column), strict=True) if head.text == row
    )


@pytest.fixture(scope="module")
def of_bcast(campaign: Campaign) -> list[Table]:
    return tables(Report(campaign), "bcast")


def test_only_what_is_significantly_faster_than_the_default_is_bold(of_bcast: list[Table]) -> None:
    knomial, binomial, default = (
        entry(of_bcast[0], "1 B", name) for name in ("knomial:radix=4", "binomial", "default")
    )
    assert knomial.best
    assert not binomial.best
    assert not default.best


def test_statuses_stand_as_marks_and_a_failed_cell_says_so(of_bcast: list[Table]) -> None:
    assert [entry(table, "64 B", "linear").marks for table in of_bcast] == ["n", "n", "no"]
    assert entry(of_bcast[0], "4 MiB", "linear") == Value("failed", marks="f")
