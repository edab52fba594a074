"""What the page's script draws, as the JSON that the page holds."""

import json
from typing import Any

import polars as pl
from markupsafe import Markup

from timpani.campaign.relations import RELATION
from timpani.charts import theme
from timpani.charts.algorithm_map import with_key
from timpani.report.contents import Report
from timpani.report.figures import CONDITIONS, SETTING
from timpani.study.schema import BOUND, NODE_RANKS, SWITCH_RANKS

_DIGITS = 5  # significant, of numbers on the page


def script_data(report: Report) -> Markup:
    """JSON that can't end the script element it stands in."""
    text = json.dumps(_data(report), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))  # noqa: S704


def _data(report: Report) -> dict[str, Any]:
    """What the page's script draws: tables by name, a list for each column, and the figures' specifications."""
    measured = (
        *("collective", "label", "ranks", "message_bytes", CONDITIONS),
        *("median_us", "osu_avg_us", "ci_low_us", "ci_high_us", "launches", "status"),
        *("throughput_mb_per_s", "throughput_low_mb_per_s", "throughput_high_mb_per_s"),
    )
    judged = ("placement", SETTING, "spread", "two_humped", "ratio", "ratio_low", "ratio_high", "significant")
    told = (column for column in (NODE_RANKS, SWITCH_RANKS, BOUND) if column in report.cells.columns)
    cells = report.cells.select(*measured, *judged, *(each for each in told if report.cells[each].is_not_null().any()))
    messages = report.messages.select(*measured, *("first", "second", RELATION, "throughput_shown"))
    best = _map_rows(report.best)
    return {
        "full_width": theme.WIDTH,
        "tables": {
            "cells": _columns(cells),
            "messages": _columns(messages),
            "decisions": _columns(best),
            "fits": _columns(report.models.fits),
            "residuals": _columns(report.models.residuals),
        },
        "panels": {
            panel.name: {
                "table": panel.kind.table,
                "collective": panel.collective,
                "specification": panel.specification(),
                "measure": panel.kind.measure,
            }
            for panels in report.panels.values()
            for panel in panels
        },
    }


def _map_rows(best: pl.DataFrame) -> pl.DataFrame:
    """The rows of the algorithm maps, numbered within each collective as their figures are."""
    keyed = [with_key(part) for _, part in best.group_by("collective", maintain_order=True)]
    return pl.concat(keyed or [with_key(best)]).select(
        *("collective", "ranks", "message_bytes", CONDITIONS, "verdict", "status"),
        *("best_label", "best_us", "default_us", "tied_with", "key", "legend"),
    )


def _columns(frame: pl.DataFrame) -> dict[str, Any]:
    """Each column as a list; one of text as its distinct values and, per row, the index of its value."""
    columns: dict[str, Any] = {}
    for column in frame.get_columns():
        if column.dtype == pl.String:
            values = column.unique(maintain_order=True).to_list()
            index = {value: i for i, value in enumerate(values)}
            columns[column.name] = {"values": values, "rows": [index[value] for value in column]}
        elif column.dtype == pl.Float64:
            columns[column.name] = column.round_sig_figs(_DIGITS).to_list()
        else:
            columns[column.name] = column.to_list()
    return columns
