"""What the page's script draws, as the JSON that the page holds."""

import json
from typing import Any

import polars as pl
from markupsafe import Markup

from timpani.report.figures import theme
from timpani.report.figures.figure import figures
from timpani.report.page.contents import Report
from timpani.report.page.panels import Panel

_DIGITS = 5  # significant, of numbers on the page


def script_data(report: Report) -> Markup:
    """JSON that can't end the script element it stands in."""
    text = json.dumps(_data(report), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))  # noqa: S704


def _data(report: Report) -> dict[str, Any]:
    """Tables by name, a list for each column, and the figures' specifications."""
    return {
        "full_width": theme.WIDTH,
        "tables": {name: _columns(table.select(_drawn(name, table))) for name, table in report.tables.items()},
        "panels": {
            panel.name: {
                "table": panel.figure.table,
                "collective": panel.collective,
                "specification": panel.specifications[False],
                **({"linear": panel.specifications[True]} if panel.figure.linear_too else {}),
                **_labels(panel, report.tables[panel.figure.table]),
                "measure": panel.figure.measure,
                "decided_by": panel.figure.decided_by,
            }
            for panels in report.panels.values()
            for panel in panels
        },
    }


def _labels(panel: Panel, table: pl.DataFrame) -> dict[str, list[str]]:
    """The labels that a figure draws where these are not all of its operation's."""
    if "label" not in table.columns:
        return {}
    drawn = set(panel.frame["label"].unique())
    of_operation = table.filter(pl.col("collective") == panel.collective)["label"].unique()
    return {} if drawn == set(of_operation) else {"labels": sorted(drawn)}


def _drawn(name: str, table: pl.DataFrame) -> list[str]:
    """The columns of a table that its figures are drawn from."""
    drawn = [figure for figure in figures() if figure.table == name]
    always = (column for figure in drawn for column in figure.columns)
    optional = (column for figure in drawn for column in figure.optional if column in table.columns)
    return list(dict.fromkeys([*always, *(column for column in optional if table[column].is_not_null().any())]))


def _columns(frame: pl.DataFrame) -> dict[str, Any]:
    """Each column as a list; one of text as its distinct values and, per row, the index of its value."""
    columns: dict[str, Any] = {}
    for column in frame.get_columns():
        if column.dtype == pl.String:
            values = column.unique(maintain_order=True).to_list()
            index = {value: i for i, value in enumerate(values)}
            columns[column.name] = {"values": values, "rows": [index[value] for value in column.to_list()]}
        elif column.dtype == pl.Float64:
            columns[column.name] = column.round_sig_figs(_DIGITS).to_list()
        else:
            columns[column.name] = column.to_list()
    return columns
