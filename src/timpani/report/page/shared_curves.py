"""Algorithms that are one schedule at all sizes of a rank count: one curve and one column stand for all of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

import polars as pl

from timpani.stats.compare import INDIFFERENCE
from timpani.study.counted import counted
from timpani.tuning.decide.equal_schedules import JOINED, EqualSchedules, schedule_name

_MAX_NAMES = 2  # in a label; of more the first one and their number
_PLACE = ("placement", "mode", "arrival", "machine")

SharedCurves = Mapping[tuple[str, int], Sequence[tuple[str, ...]]]
"""By collective and ranks the labels that share a curve; that of the first is drawn."""


def shared_curves(cells: pl.DataFrame, equal: EqualSchedules) -> SharedCurves:
    """The labels that are one schedule at every size at which they were measured, all at the same ones.

    Those that failed somewhere, or whose times contradict that, share no curve.

    cells  columns of `estimate_cells` and the comparison with the default
    """
    found: defaultdict[tuple[str, int], list[tuple[str, ...]]] = defaultdict(list)
    bounds = {tuple(key): ends for *key, ends in _bounds(cells).iter_rows()}
    for (collective, ranks), (first, *others) in _one_schedule(cells, equal):
        of_first = bounds[collective, ranks, first]
        same = [each for each in others if _may_agree(of_first, bounds[collective, ranks, each])]
        if same:
            found[collective, ranks].append((first, *same))
    return found


def _one_schedule(cells: pl.DataFrame, equal: EqualSchedules) -> Iterator[tuple[tuple[str, int], list[str]]]:
    """By collective and ranks each list of labels with the same schedules at the same sizes, without a failure."""
    failed = cells.filter(pl.col("error").is_not_null()).select("collective", "ranks", "label").unique()
    whole = cells.join(failed, on=["collective", "ranks", "label"], how="anti")
    sized = whole.group_by("collective", "ranks", "label").agg(pl.col("message_bytes").unique().sort())
    by_schedules: defaultdict[tuple[Any, ...], list[str]] = defaultdict(list)
    for collective, ranks, label, sizes in sized.sort("collective", "ranks", "label").iter_rows():
        names = tuple((size, schedule_name(equal, collective, ranks, size, label)) for size in sizes)
        by_schedules[collective, ranks, names].append(label)
    for (collective, ranks, _), labels in by_schedules.items():
        yield (collective, ranks), labels


def _bounds(cells: pl.DataFrame) -> pl.DataFrame:
    """By collective, ranks and label the intervals of the ratio to the default, in the order of places and sizes."""
    ends = pl.concat_list("ratio_low", "ratio_high").sort_by(*_PLACE, "message_bytes").alias("ends")
    return cells.group_by("collective", "ranks", "label").agg(ends)


def _may_agree(first: list[list[float | None]], second: list[list[float | None]]) -> bool:
    """Whether no two intervals are apart by more than what counts as a difference; one without an end reaches all."""
    return all(
        (low or 0) <= (other_high or inf) * INDIFFERENCE[1] and (other_low or 0) <= (high or inf) * INDIFFERENCE[1]
        for (low, high), (other_low, other_high) in zip(first, second, strict=False)
    )


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


def shared_notes(cells: pl.DataFrame, equal: EqualSchedules) -> Iterator[str]:
    """Which names each shared curve stands for, and which are drawn separately although they are the same schedule."""
    curves = shared_curves(cells, equal)
    for (collective, ranks), sets in curves.items():
        for labels in sets:
            names = f"{', '.join(labels[:-1])} and {labels[-1]}"
            yield (
                f"{collective} on {counted(ranks, 'rank')}: {names} have the same schedule; the curve "
                f"{curve_label(labels)} shows the times of {labels[0]}"
            )
    for (collective, ranks), (first, *others) in _one_schedule(cells, equal):
        shared = next((labels for labels in curves.get((collective, ranks), ()) if labels[0] == first), ())
        if apart := [label for label in others if label not in shared]:
            yield (
                f"{collective} on {counted(ranks, 'rank')}: {', '.join(apart)} and {first} have the same schedule, but "
                "their times differ, so they have separate curves"
            )
