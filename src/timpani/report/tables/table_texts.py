"""A campaign's tables as text, Markdown, LaTeX or CSV."""

from collections.abc import Callable, Mapping

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.report.tables.campaign_tables import campaign_tables
from timpani.report.tables.latex_tables import table_latex
from timpani.report.tables.plain_tables import tables_csv, tables_markdown, tables_text
from timpani.report.tables.report_table import Table
from timpani.study.schema import STATISTIC

_TEXTS: Mapping[str, Callable[[list[Table]], str]] = {
    "table": tables_text,
    "markdown": tables_markdown,
    "latex": lambda tables: "\n".join(map(table_latex, tables)),
    "csv": tables_csv,
}


def tables_as(format: str, campaign: Campaign, cells: pl.DataFrame, layout: str) -> str:
    """The tables of `cells` (columns of `cells_in_context`) in a layout of `campaign_tables` and a format of
    `written_as`."""
    cells = cells.with_columns(pl.lit(campaign.statistic).alias(STATISTIC))
    return written_as(format, campaign_tables(campaign, cells, layout, split=format != "csv"))


def written_as(format: str, tables: list[Table]) -> str:
    """The tables in a format: table, markdown, latex (for the package booktabs) or csv."""
    return _TEXTS[format](tables)
