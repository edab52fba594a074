"""Algorithms that are one schedule at all sizes of a rank count: one curve and one column stand for all of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from timpani.judge.equal_schedules import JOINED, EqualSchedules, schedule_name
from timpani.study.words import counted

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
