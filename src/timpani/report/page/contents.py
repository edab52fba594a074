"""What a report shows: tables of cells and of what is computed from them, and the figures drawn from these."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.context import with_boundaries, with_bounds
from timpani.campaign.read.message_locality import with_locality
from timpani.judge.cell_table import distances_from_default, estimate_cells, knees
from timpani.judge.decide import compare_with_plain_message, compared_with_default, decide
from timpani.judge.equal_schedules import JOINED, EqualSchedules, schedule_name
from timpani.judge.raced import raced_results
from timpani.report.document.blocks import Table
from timpani.report.figures.columns import CALLS, COMPETITOR, SIZE_SERIES, WITHOUT_VARIANT, is_default, message_rows
from timpani.report.figures.figure import figures
from timpani.report.figures.maps import with_key
from timpani.report.figures.theme import style_numbers
from timpani.report.fit.fit_context import PublishedFit
from timpani.report.fit.fit_section import fit_section
from timpani.report.page.panels import Panel, panels
from timpani.report.tables.conditions import with_conditions
from timpani.report.verdict.verdict_text import schedules_of, verdict_of
from timpani.study.cell import DEFAULT, VARIANT_SIGN
from timpani.study.schema import MACHINE_CELL, POINT, STATISTIC, SWEEP
from timpani.study.sizes import size_series
from timpani.study.words import counted


class PredictedCells(Protocol):
    """Predicted times of a campaign's cells.

    left_out  what could not be predicted, and why, a sentence each
    """

    @property
    def left_out(self) -> tuple[str, ...]: ...

    def compared(self, cells: pl.DataFrame) -> pl.DataFrame:
        """The cells with a prediction, for `tables`."""

    def sentence(self, cells: pl.DataFrame) -> str:
        """How near the predictions come."""

    def tables(self, compared: pl.DataFrame) -> list[Table]:
        """A table for each curve."""


class Report:
    """A campaign with all values computed for its report.

    The report compares its fits with `published` fits and its times with `predicted` times.

    cells   all that was measured: columns of `estimate_cells`, of where ranks ran, CONDITIONS, SETTING and the
            comparison with the default
    tables  that figures are drawn from, each schedule once. `cells`: the same columns and WITHOUT_VARIANT; in
            `every_cell` a schedule has all of its names, since curves against ranks share one at some of them only.
            `competitors`: of `with_defaults_on_host_files`, of all algorithms. `messages`: `message_rows` of the cells.
            `decisions`: the points with a verdict, columns of `decide` and `with_key`. `fits`: of `fit_section`
    curve_notes  which names each curve stands for that algorithms share
    panels       by the name of the figure
    """

    def __init__(
        self, campaign: Campaign, published: Sequence[PublishedFit] = (), predicted: PredictedCells | None = None
    ) -> None:
        self.campaign = campaign
        cells = with_boundaries(with_locality(estimate_cells(raced_results(campaign)), campaign), campaign)
        cells = with_bounds(cells, campaign)
        cells = with_size_series(with_conditions(cells)).with_columns(pl.lit(campaign.statistic).alias(STATISTIC))
        self.decisions = with_conditions(decide(raced_results(campaign)))
        self.verdict = verdict_of(campaign, self.decisions, cells)
        compared_with = pl.concat(
            [compared_with_default(campaign), compare_with_plain_message(raced_results(campaign))]
        )
        self.cells = with_speedup(cells, compared_with)
        self.equal = schedules_of(campaign, cells)
        curves = shared_curves(self.cells, self.equal)
        self.curve_notes = tuple(shared_notes(curves))
        drawn = with_labels_without_variant(draw_once(self.cells, curves))
        calls = drawn.filter(CALLS)
        self.predicted = predicted
        self.distances = with_conditions(distances_from_default(calls))
        self.knees = with_conditions(knees(calls))
        self.models = fit_section(campaign, cells, published, partial(drawn_label, curves))
        measured = {
            "cells": drawn,
            "every_cell": with_labels_without_variant(self.cells),
            "competitors": with_defaults_on_host_files(self.cells.filter(CALLS)),
            "messages": message_rows(drawn),
            "decisions": _numbered(with_curve_labels(with_best_status(self.decisions, self.cells), curves)),
            "fits": self.models.fits,
        }
        self.tables = {name: default_last(table) for name, table in measured.items()}
        groups = [*_by_operation(self.tables["cells"]), *_by_operation(self.tables["messages"])]
        numbers = with_shared_names(style_numbers(groups), curves)
        self.panels: dict[str, list[Panel]] = {
            figure.name: panels(figure, self.tables[figure.table], numbers)
            for figure in sorted(figures(), key=lambda figure: figure.place)
        }


def default_last(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the rows of the default behind all others: what is drawn last lies on top."""
    if "label" not in frame.columns:
        return frame
    of_default = [label for label in frame["label"].unique() if is_default(label)]
    return frame.sort(pl.col("label").is_in(of_default), maintain_order=True)


def _by_operation(frame: pl.DataFrame) -> list[list[str]]:
    """The labels of each operation."""
    return frame.group_by("collective", maintain_order=True).agg(pl.col("label").unique())["label"].to_list()


def with_labels_without_variant(cells: pl.DataFrame) -> pl.DataFrame:
    """The cells with WITHOUT_VARIANT."""
    variants = sorted(cells["variant"].unique(), key=len, reverse=True)  # one name may begin another
    ends = f"{VARIANT_SIGN}({'|'.join(map(re.escape, variants))})"
    return cells.with_columns(pl.col("label").str.replace_all(ends, "").alias(WITHOUT_VARIANT))


def with_size_series(cells: pl.DataFrame) -> pl.DataFrame:
    """The cells with SIZE_SERIES: to which series each size belongs where those of a sweep are of two."""
    sizes = cells.group_by(SWEEP).agg(pl.col("message_bytes").unique())
    rows = [(*key, size, which) for *key, found in sizes.iter_rows() for size, which in size_series(found).items()]
    schema = {**cells.select(*SWEEP, "message_bytes").schema, SIZE_SERIES: pl.String()}
    series = pl.DataFrame(rows, schema=schema, orient="row")
    return cells.join(series, on=[*SWEEP, "message_bytes"], how="left", maintain_order="left")


def with_speedup(cells: pl.DataFrame, compared: pl.DataFrame) -> pl.DataFrame:
    """The cells of `estimate_cells` with `ratio` and its columns from a comparison such as `compare_with_default`."""
    return cells.join(
        compared.select(*MACHINE_CELL, "ratio", "ratio_low", "ratio_high", "significant"),
        on=MACHINE_CELL,
        how="left",
        maintain_order="left",
    )


def with_defaults_on_host_files(cells: pl.DataFrame) -> pl.DataFrame:
    """The cells of each algorithm on host files, with the default's cells on the same host files.

    cells    columns of `estimate_cells`
    returns  the same columns and COMPETITOR, the algorithm's label; the cells of the default once for each algorithm
    """
    on_files = cells.filter(pl.col("placement").str.starts_with("category:"))
    default = on_files.filter(pl.col("label") == DEFAULT)
    compared = on_files.filter(pl.col("label") != DEFAULT).join(default, on=POINT, how="semi")
    named = compared.select(*POINT, pl.col("label").alias(COMPETITOR))
    return pl.concat(
        [
            compared.with_columns(pl.col("label").alias(COMPETITOR)),
            default.join(named, on=POINT, how="inner", maintain_order="right"),
        ]
    )


def with_best_status(decisions: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """The decisions of `decide` that have a verdict, with `status`, the best cell's."""
    statuses = cells.select(*POINT, pl.col("label").alias("best_label"), "status").unique([*POINT, "best_label"])
    return decisions.filter(pl.col("verdict").is_not_null()).join(
        statuses, on=[*POINT, "best_label"], how="left", maintain_order="left"
    )


def _numbered(decisions: pl.DataFrame) -> pl.DataFrame:
    """The decisions with the columns of `with_key`, numbered within each operation as its map is."""
    parts = [with_key(part) for _, part in decisions.group_by("collective", maintain_order=True)]
    return pl.concat(parts or [with_key(decisions)])


_MAX_NAMES = 2  # in a label; of more the first one and their number

SharedCurves = Mapping[tuple[str, int], Sequence[tuple[str, ...]]]
"""By collective and ranks the labels that share a curve; that of the first is drawn."""


def shared_curves(cells: pl.DataFrame, equal: EqualSchedules) -> SharedCurves:
    """The labels that are one schedule at every size at which they were measured, all at the same ones.

    Those that failed somewhere share no curve, nor do imported averages: published values that differ stay apart.
    """
    alone = pl.col("error").is_not_null() | pl.col("median_us").is_null()
    failed = cells.filter(alone).select("collective", "ranks", "label").unique()
    whole = cells.join(failed, on=["collective", "ranks", "label"], how="anti")
    sized = whole.group_by("collective", "ranks", "label").agg(pl.col("message_bytes").unique().sort())
    by_schedules: defaultdict[tuple[Any, ...], list[str]] = defaultdict(list)
    for collective, ranks, label, sizes in sized.sort("collective", "ranks", "label").iter_rows():
        names = tuple((size, schedule_name(equal, collective, ranks, size, label)) for size in sizes)
        by_schedules[collective, ranks, names].append(label)
    found: defaultdict[tuple[str, int], list[tuple[str, ...]]] = defaultdict(list)
    for (collective, ranks, _), labels in by_schedules.items():
        if len(labels) > 1:
            found[collective, ranks].append(tuple(labels))
    return found


def curve_label(labels: tuple[str, ...]) -> str:
    """`binomial = linear`, or of more `binary + 5 equal`."""
    return JOINED.join(labels) if len(labels) <= _MAX_NAMES else f"{labels[0]} + {len(labels) - 1} equal"


def drawn_label(curves: SharedCurves, collective: str, ranks: int, label: str) -> str | None:
    """The label of an algorithm's curve; None where the curve of another algorithm stands for it."""
    labels = next((each for each in curves.get((collective, ranks), ()) if label in each), (label,))
    return curve_label(labels) if labels[0] == label else None


def with_shared_names(numbers: Mapping[str, int], curves: SharedCurves) -> dict[str, int]:
    """The numbers of `style_numbers`, and for each algorithm without a number that of a curve that it shares."""
    shared = {label: numbers[curve_label(labels)] for sets in curves.values() for labels in sets for label in labels}
    return shared | dict(numbers)


def draw_once(cells: pl.DataFrame, curves: SharedCurves) -> pl.DataFrame:
    """The cells with one row in place of those that share a curve: the first algorithm's, with all their `label`."""
    return _relabeled(cells, curves, "label").filter(~pl.col("is_other")).drop("is_other")


def with_curve_labels(decisions: pl.DataFrame, curves: SharedCurves) -> pl.DataFrame:
    """The decisions with `best_label` and the names in `tied` as `draw_once` labels the curves."""
    best = _relabeled(decisions, curves, "best_label").drop("is_other").with_row_index("row")
    names = best.select("row", "collective", "ranks", "tied").explode("tied")
    tied = _relabeled(names, curves, "tied").group_by("row").agg(pl.col("tied").unique(maintain_order=True))
    return best.drop("tied").join(tied, on="row", how="left", maintain_order="left").drop("row")


def _relabeled(frame: pl.DataFrame, curves: SharedCurves, column: str) -> pl.DataFrame:
    """The frame with curves' labels in `column`, and `is_other`: whether its algorithm is not the one that is drawn."""
    rows = [
        (collective, ranks, label, curve_label(labels), label != labels[0])
        for (collective, ranks), sets in curves.items()
        for labels in sets
        for label in labels
    ]
    names = pl.DataFrame(
        rows,
        schema={
            "collective": pl.String(),
            "ranks": frame.schema["ranks"],
            column: pl.String(),
            "curve": pl.String(),
            "is_other": pl.Boolean(),
        },
        orient="row",
    )
    return (
        frame.join(names, on=["collective", "ranks", column], how="left", maintain_order="left")
        .with_columns(pl.coalesce("curve", column).alias(column), pl.col("is_other").fill_null(False))
        .drop("curve")
    )


def shared_notes(curves: SharedCurves) -> Iterator[str]:
    """Which names each shared curve stands for."""
    for (collective, ranks), sets in curves.items():
        for labels in sets:
            names = f"{', '.join(labels[:-1])} and {labels[-1]}"
            yield (
                f"{collective} on {counted(ranks, 'rank')}: {names} have the same schedule; the curve "
                f"{curve_label(labels)} shows the times of {labels[0]}"
            )
