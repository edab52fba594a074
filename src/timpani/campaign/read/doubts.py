"""Find impossible or improbable times in an imported table, from its numbers alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import polars as pl

from timpani.campaign.read.context import Part, crossing_bytes
from timpani.campaign.read.message_locality import MESSAGES
from timpani.stats.compare import INDIFFERENCE
from timpani.study.cell import DEFAULT
from timpani.study.operations import OPERATIONS
from timpani.study.sizes import show_size
from timpani.study.words import counted

FACTOR = 1.5
"""On a quiet machine single runs of one cell differ by less than this factor; larger differences need a reason."""

SAME = 0.02
"""Two curves are the same if the median ratio of their times differs from 1 by less than this."""

LAUNCHES_APART = 3.0
"""Launches of one cell that differ by more than this probably measured different things."""

_HALF_UNIT = 0.005
"""Of the last digit: OSU prints two decimals."""

MIN_COMPARED_CELLS = 20
"""Cells that two curves must have in common before they are called the same."""

_MIN_PLAUSIBLE_US = 1e-3
"""One nanosecond, a few cycles: no message between two ranks takes less."""

_MAX_PLAUSIBLE_US = 60e6
"""One minute: a benchmark that repeats such a call a thousand times would run for a day."""

_SAME_MESSAGES = frozenset({("bcast", "scatter", "linear"), ("gather", "reduce", "linear")})
"""Operations and the algorithm in which the root exchanges one message of the printed size with each rank in both."""


@dataclass(frozen=True)
class Conditions:
    """The known conditions of a published table, of its machine and its library. Rates are MB/s (10⁶ bytes).

    ranks_per_node  ranks fill one node after another
    port            rate of a node's port, and its source in words
    whole           operations of which the table has all algorithms that the default can choose
    """

    ranks_per_node: int | None = None
    port: float | None = None
    port_source: str = ""
    whole: tuple[str, ...] = ()


@dataclass(frozen=True)
class Doubt:
    """kind: a word for programs; text: what can't be, with the numbers; cells: how many times it is about."""

    kind: str
    text: str
    cells: int


def doubts(times: pl.DataFrame, conditions: Conditions | None = None) -> list[Doubt]:
    """The doubtful times of a table, the most serious doubt first.

    times  columns collective, label, ranks, message_bytes and `time_us`: averages over ranks of single runs. Columns
           that may be missing: `mode`, since times of different modes are never compared, and `rounding`, half a unit
           of the last printed digit as a share of the figure; without it OSU's two decimals
    """
    parts = times.partition_by("mode", maintain_order=True) if "mode" in times.columns else [times]
    return [doubt for part in parts for doubt in _doubts_of_mode(part, conditions or Conditions())]


def _doubts_of_mode(times: pl.DataFrame, known: Conditions) -> list[Doubt]:
    return [
        *_impossible(times),
        *_twins(times),
        *_over_the_port(times, known),
        *_messages_over_the_port(times, known),
        *_default_beats_its_choices(times, known),
        *_prints_its_size(times),
        *_falls(times, "message_bytes", "size"),
        *_falls(times, "ranks", "rank count"),
        *_coarse(times),
    ]


def _impossible(times: pl.DataFrame) -> Iterator[Doubt]:
    """Times that are impossible on every machine."""
    time = pl.col("time_us")
    for off, words in (
        (time < _MIN_PLAUSIBLE_US, "under a nanosecond, less than a few cycles of a processor"),
        (time > _MAX_PLAUSIBLE_US, "over a minute a call, which no benchmark repeats"),
    ):
        for row in times.filter(off).iter_rows(named=True):
            yield Doubt("impossible", f"{_cell_text(row)}: {_time(row['time_us'])} is {words}", 1)


def _twins(times: pl.DataFrame) -> Iterator[Doubt]:
    """Equal curves of two operations with one algorithm name, on more than two ranks, where messages differ."""
    cells = times.filter(pl.col("ranks") > 2)
    names = sorted(set(cells["collective"]))
    for first, second in combinations(names, 2):
        both = cells.filter(collective=first).join(
            cells.filter(collective=second), on=["label", "ranks", "message_bytes"], suffix="_second"
        )
        for (label,), part in both.group_by("label", maintain_order=True):
            ratio = (part["time_us_second"] / part["time_us"]).median()
            few = part.height < MIN_COMPARED_CELLS or (first, second, label) in _SAME_MESSAGES
            if few or not isinstance(ratio, float) or abs(ratio - 1) > SAME:
                continue
            yield Doubt(
                "same_curve",
                f"{second} and {first} times of {label} are almost identical (median ratio {ratio:.2f} over "
                f"{counted(part.height, 'cell')} of more than 2 ranks) though they move different data: one column was "
                "probably copied from the other",
                part.height,
            )


def _over_the_port(times: pl.DataFrame, known: Conditions) -> Iterator[Doubt]:
    """Times below half of the time that the root's node needs to pass its bytes through its port.

    The printed time is an average over ranks. If data leave at a steady rate, the average rank waits half as long as
    the last rank.
    """
    if known.ranks_per_node is None or known.port is None:
        return
    least = [
        crossing_bytes(row["collective"], row["message_bytes"], _first_node(row["ranks"], known.ranks_per_node))
        / known.port
        for row in times.iter_rows(named=True)
    ]
    under = times.with_columns(pl.Series("least_us", least, pl.Float64)).filter(
        pl.col("time_us") < pl.col("least_us") / 2
    )
    for (collective, label), part in under.group_by("collective", "label", maintain_order=True):
        worst = _worst(part, "message_bytes", "ranks")
        leaving = (worst["ranks"] - 1) * worst["message_bytes"] / worst["time_us"] / 1e3
        yield Doubt(
            "over_the_port",
            f"{collective} {label} is too fast for the root's port at {counted(part.height, 'cell')}: "
            f"{show_size(worst['message_bytes'])} to each of {worst['ranks']} ranks in {_time(worst['time_us'])} is "
            f"{leaving:.3g} GB/s out of one root. The bytes for the other node need at least "
            f"{_time(worst['least_us'])} at the port, {known.port_source}, and half of that for the average rank",
            part.height,
        )


def _messages_over_the_port(times: pl.DataFrame, known: Conditions) -> Iterator[Doubt]:
    """Messages between two nodes that would be faster than the port."""
    if known.port is None:
        return
    rate = (pl.col("message_bytes") / pl.col("time_us")).alias("rate")
    faster = times.filter(pl.col("collective").is_in(MESSAGES), rate > known.port).with_columns(rate)
    for (collective,), part in faster.group_by("collective", maintain_order=True):
        worst = _worst(part, "rate")
        yield Doubt(
            "over_the_port",
            f"{collective} is faster than the port, {known.port_source}, at {counted(part.height, 'size')}: "
            f"{show_size(worst['message_bytes'])} in {_time(worst['time_us'])} is {worst['rate'] / 1e3:.3g} GB/s",
            part.height,
        )


def _first_node(ranks: int, ranks_per_node: int) -> Part:
    """The root's node."""
    return Part(min(ranks, ranks_per_node), ranks, -(-ranks // ranks_per_node), has_root=True)


def _default_beats_its_choices(times: pl.DataFrame, known: Conditions) -> Iterator[Doubt]:
    """Defaults that are much faster than the fastest of the algorithms that they choose from."""
    for collective in known.whole:
        part = times.filter(pl.col("collective") == collective, pl.col("ranks") > 2)
        fixed = part.filter(pl.col("label") != DEFAULT)
        chosen_among = ", ".join(sorted(set(fixed["label"])))
        fastest = fixed.group_by("ranks", "message_bytes").agg(pl.min("time_us").alias("fastest_us"))
        default = part.filter(label=DEFAULT).join(fastest, on=["ranks", "message_bytes"])
        faster = default.with_columns((pl.col("fastest_us") / pl.col("time_us")).alias("factor")).filter(
            pl.col("factor") > FACTOR
        )
        if faster.height:
            worst = _worst(faster, "factor")
            yield Doubt(
                "faster_than_its_choices",
                f"{collective} default is more than {FACTOR} × faster than every algorithm that it can choose "
                f"({chosen_among}) at {faster.height} of {counted(default.height, 'cell')}, {worst['factor']:.1f} × at "
                f"{show_size(worst['message_bytes'])} on {worst['ranks']} ranks",
                faster.height,
            )


def _prints_its_size(times: pl.DataFrame) -> Iterator[Doubt]:
    """Times with the digits of their size: perhaps the wrong column was read."""
    for factor in (1, 1_000, 1_000_000):
        same = times.filter(
            pl.col("message_bytes") >= 1024, (pl.col("time_us") * factor - pl.col("message_bytes")).abs() < 0.5
        )
        for row in same.iter_rows(named=True):
            text = f"{_cell_text(row)}: the time reads {row['time_us']:.10g}, the digits of the size"
            yield Doubt("prints_its_size", text, 1)


def _falls(times: pl.DataFrame, column: str, words: str) -> Iterator[Doubt]:
    """Times that the next larger size, or rank count, takes only a fraction of; no step leads over an empty cell."""
    curve = [name for name in ("collective", "label", "ranks", "message_bytes") if name != column]
    steps = (
        times.with_columns(pl.col(column).rank("dense").over("collective").alias("place"))
        .sort(*curve, column)
        .with_columns(pl.col("time_us", column, "place").shift(-1).over(curve).name.prefix("next_"))
        .filter(pl.col("next_place") == pl.col("place") + 1)
        .with_columns((pl.col("time_us") / pl.col("next_time_us")).alias("factor"))
    )
    falling = steps.filter(pl.col("factor") > FACTOR)
    if falling.is_empty():
        return
    worst = _worst(falling, "factor")
    here, there = (_point_text(worst | {column: value}) for value in (worst[column], worst[f"next_{column}"]))
    yield Doubt(
        f"falls_with_{column}",
        f"times fall by more than {FACTOR} × at the next larger {words} at {falling.height} of "
        f"{counted(steps.height, 'step')}, most in {worst['collective']} {worst['label']}: {_time(worst['time_us'])} "
        f"{here}, {_time(worst['next_time_us'])} {there}",
        falling.height,
    )


def _coarse(times: pl.DataFrame) -> Iterator[Doubt]:
    """Figures with so few digits that rounding alone may cause a difference."""
    rounding = times["rounding"] if "rounding" in times.columns else _rounding(times)
    most = 1 - INDIFFERENCE[0]
    rounded = times.with_columns(rounding.alias("rounding")).filter(pl.col("rounding") > most)
    if rounded.height:
        worst = _worst(rounded, "rounding")
        yield Doubt(
            "coarse",
            f"figures are printed to few digits: at {counted(rounded.height, 'cell')} rounding alone is over "
            f"{100 * most:.0f} %, at most {100 * worst['rounding']:.2g} % in {worst['collective']} {worst['label']} "
            f"{_point_text(worst)}",
            rounded.height,
        )


def _rounding(times: pl.DataFrame) -> pl.Series:
    """Half a unit of the last digit as a share of the figure that OSU prints: a time, MB/s or messages per second."""
    quantity = {name: operation.quantity for name, operation in OPERATIONS.items()}
    figures = {
        "time": lambda row: row["time_us"],
        "throughput": lambda row: row["message_bytes"] / row["time_us"],
        "rate": lambda row: 1e6 / row["time_us"],
    }
    printed = [
        figures[quantity.get(row["collective"], "time")](row) if row["time_us"] else 0.0
        for row in times.iter_rows(named=True)
    ]
    return pl.Series("rounding", [_HALF_UNIT / max(figure, _HALF_UNIT) for figure in printed], pl.Float64)


def differing_launches(times: pl.DataFrame) -> Iterator[Doubt]:
    """Launches of one cell that differ too much: a log may not say that its buffers or its ranks are elsewhere.

    times  columns collective, label, ranks, message_bytes, mode and `time_us`, a row for each launch
    """
    cell = ("collective", "label", "ranks", "message_bytes", "mode")
    extremes = (pl.max("time_us").alias("longest"), pl.min("time_us").alias("shortest"))
    spread = times.group_by(cell, maintain_order=True).agg(*extremes)
    apart = spread.filter(pl.col("longest") > LAUNCHES_APART * pl.col("shortest"))
    if apart.height:
        worst = _worst(apart, pl.col("longest") / pl.col("shortest"))
        yield Doubt(
            "launches_differ",
            f"launches differ by more than {LAUNCHES_APART:g} × at {counted(apart.height, 'cell')}, most in "
            f"{worst['collective']} {worst['label']} {_point_text(worst)}: {_time(worst['shortest'])} and "
            f"{_time(worst['longest'])}; import different measurements into separate folders",
            apart.height,
        )


def _time(microseconds: float) -> str:
    return f"{microseconds:.3g} µs" if microseconds < 1000 else f"{microseconds:,.0f} µs"


def _worst(rows: pl.DataFrame, *by: str | pl.Expr) -> dict[str, Any]:
    return rows.sort(*by, descending=True).row(0, named=True)


def _point_text(row: dict[str, Any]) -> str:
    return f"at {show_size(row['message_bytes'])} on {row['ranks']} ranks"


def _cell_text(row: dict[str, Any]) -> str:
    return f"{row['collective']} {row['label']} on {row['ranks']} ranks, {show_size(row['message_bytes'])}"
