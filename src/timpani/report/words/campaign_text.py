"""A campaign as plain text: the table of its cells, and the verdict."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from timpani.charts.marks.latency_columns import coverage
from timpani.report.words.durations import show_seconds
from timpani.study.cell import OWN
from timpani.study.counted import counted
from timpani.study.operations import OPERATIONS, Quantity, title_of
from timpani.study.schema import BOUND, LOCALITY, STATES, SWEEP
from timpani.study.sizes import show_size
from timpani.tuning.decide.verdict import Decisive, Loss, Verdict

_MEDIANS: dict[Quantity, dict[str, str]] = {
    "time": {"median µs": "median_us", "from": "ci_low_us", "to": "ci_high_us"},
    "throughput": {
        "MB/s": "throughput_mb_per_s",
        "from": "throughput_low_mb_per_s",
        "to": "throughput_high_mb_per_s",
    },
    "rate": {"messages/s": "rate", "from": "rate_low", "to": "rate_high"},
}
"""For each quantity that an operation measures, headings and the columns of the frame under them."""

_AVERAGES: dict[Quantity, dict[str, str]] = {
    "time": {"OSU avg µs": "osu_avg_us"},
    "throughput": {"MB/s": "throughput_mb_per_s"},
    "rate": {"messages/s": "rate"},
}

_RATES = {
    "rate": 1e6 / pl.coalesce("median_us", "osu_avg_us"),
    "rate_low": 1e6 / pl.col("ci_high_us"),
    "rate_high": 1e6 / pl.col("ci_low_us"),
}
"""Messages per second, from microseconds per message."""

_BY_STATE = (
    "The machine was in several states: what all launches say together is a mixture, and beside it stands each state's "
    "median with its share of the launches."
)
SIMULATED = "Simulated: nothing varies, so that there is no interval."
_MOST_NAMED = 3  # points in one sentence
_RANKING = ("Largest gain", "Next", "Then")
_FEW_UNDECIDED = 5  # points: of fewer, half and nine in ten say no more than all of them
_MANY_LAUNCHES = 1000  # beyond which a number of launches means: not by more launches

NOT_RECORDED = "How to switch an algorithm on is not recorded: the campaign was measured by an earlier version."

AVERAGES_ONLY = "Imported: OSU prints averages only, so there is no median and no interval."


@dataclass(frozen=True)
class Block:
    """The cells of one operation, rank count, placement, mode and machine as text: `rows` begins with the headings."""

    heading: str
    notes: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def cell_table(cells: pl.DataFrame) -> str:
    """The blocks of `blocks` as aligned columns."""
    return "\n".join("\n".join([each.heading, *each.notes, *aligned(each.rows)]) + "\n" for each in blocks(cells))


def cell_markdown(cells: pl.DataFrame) -> str:
    """The blocks of `blocks` as Markdown tables under headings."""
    return "\n".join("\n".join(_markdown(each)) for each in blocks(cells))


def blocks(cells: pl.DataFrame) -> Iterator[Block]:
    """A block per operation, rank count, placement, mode and machine.

    `cells` is what `estimate_cells` returns; with a column `locality` it stands beside messages between ranks.
    With a column BOUND what the links alone take stands beside each time. Intervals are headed by what they cover.
    Imported cells have OSU's average in place of the median, and the block says so.
    """
    for _, block in cells.group_by(SWEEP, maintain_order=True):
        yield _block(block)


def _markdown(block: Block) -> Iterator[str]:
    yield f"### {block.heading}\n"
    for note in block.notes:
        yield f"{note}\n"
    heads, *rows = ([cell.replace("|", "\\|") for cell in row] for row in block.rows)
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join([' --- ', *([' ---: '] * (len(heads) - 2)), ' --- '])}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _block(cells: pl.DataFrame) -> Block:
    first = cells.row(0, named=True)
    imported = bool((cells["median_us"].is_null() & cells["osu_avg_us"].is_not_null()).any())
    shown = _AVERAGES[_quantity(first["collective"])] if imported else _MEDIANS[_quantity(first["collective"])]
    note = [AVERAGES_ONLY] if imported else []
    if cells["status"].str.contains("simulated").all():
        note, shown = [SIMULATED], dict([next(iter(shown.items()))])
    covered = coverage(cells)
    shown = {heading: column for heading, column in shown.items() if covered or heading not in ("from", "to")}
    states = [state for state in STATES if (cells[f"{state}_share"] < 1).any()]
    note += [_BY_STATE] if states else []
    sized = _sized(first["collective"])
    related = first.get(LOCALITY) is not None
    if BOUND in cells.columns and cells[BOUND].is_not_null().any():
        shown = {**shown, "links alone": BOUND}
    headings = [f"to ({covered})" if heading == "to" else heading for heading in shown]
    headings += [f"{state} µs" for state in states]
    rows = [("algorithm", *([LOCALITY] if related else []), *(["size"] if sized else []), *headings, "status")]
    for row in cells.with_columns(**_RATES).iter_rows(named=True):
        locality = [row[LOCALITY] or "–"] if related else []
        size = [show_size(row["message_bytes"])] if sized else []
        numbers = [decimals(row[column]) for column in shown.values()] + [_in_state(row, state) for state in states]
        rows.append((row["label"], *locality, *size, *numbers, row["status"]))
    heading = (
        f"{title_of(first['collective'])}, {counted(first['ranks'], 'rank')}, {first['placement']}, {first['mode']}, "
        f"on {first['machine']}"
    )
    return Block(heading, tuple(note), tuple(rows))


def _in_state(row: Mapping[str, Any], state: str) -> str:
    """The median of the launches in a state, and their share."""
    median, share = row[f"{state}_us"], row[f"{state}_share"]
    return "–" if median is None else f"{decimals(median)} ({100 * share:.0f} %)"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines with the first and the last column flush left and those between flush right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(text.rjust(width) for text, width in zip(row[1:-1], widths[1:-1], strict=True)),
                row[-1],
            ]
        )
        for row in rows
    ]


def _sized(collective: str) -> bool:
    return collective not in OPERATIONS or OPERATIONS[collective].sized


def _quantity(operation: str) -> Quantity:
    return OPERATIONS[operation].quantity if operation in OPERATIONS else "time"


def decimals(value: float | None) -> str:
    """With three decimals below a million, since the clock counts nanoseconds; above, message rates need none. What
    three decimals would round away has three digits."""
    if value is None:
        return "–"
    return f"{value:.3g}" if 0 < value < 0.01 else f"{value:.3f}" if value < 1e6 else f"{value:.0f}"


def verdict_lines(verdict: Verdict, messages: Sequence[str] = ()) -> list[str]:
    """The verdict as `timpani run` prints it: the answer, where it matters most, each collective, then warnings.

    messages  what was found of messages between ranks, a line each
    """
    return [
        *(headline(verdict) if verdict.has_collectives or not messages else []),
        *messages,
        *(f"  {sentence}" for sentence in verdict.sentences),
        *(f"Warning: {warning}" for warning in verdict.warnings),
    ]


def headline(verdict: Verdict) -> list[str]:
    """What is shown of the default, the largest gains over it, and what would decide the rest: each a sentence."""
    if not verdict.has_collectives:
        return ["Verdict: none asked for; messages and transposes have no default to decide on."]
    if not verdict.decided:
        return ["Verdict: none; there is nothing that the default could be compared with."]
    if not verdict.can_tell:
        advice = f": {verdict.launches_advice}" if verdict.launches_advice else ""
        return [f"Verdict: none yet; a comparison takes {counted(verdict.launches_needed, 'launch')}{advice}."]
    points = counted(verdict.decided, "point")
    if verdict.by_value == verdict.decided:
        lines = [
            f"Verdict by value alone (averages of a single run, no interval): of {points} (collective, ranks, size) "
            f"the default takes at most 5 % longer than the fastest at {verdict.within_by_value}."
        ]
        return [*lines, f"Largest gain by value: {_loss(verdict.worst)}."] if verdict.worst else lines
    rest = f"; {verdict.undecided} {'is' if verdict.undecided == 1 else 'are'} undecided" if verdict.undecided else ""
    lines = [
        f"Verdict: of {points} (collective, ranks, size) it is shown that at {verdict.within_5_percent} the default is "
        f"within 5 % of the fastest, and at {verdict.slower} another algorithm is faster{rest}."
    ]
    if verdict.worst:
        lines += _losses(verdict)
    elif not verdict.undecided:
        lines.append("No algorithm is significantly faster.")
    if verdict.differing:
        lines.append(_in_each_state(verdict.differing))
    if verdict.decisive:
        lines.append(_what_would_decide(verdict.decisive, verdict.undecided))
    return lines


def _what_would_decide(decisive: Decisive, undecided: int) -> str:
    """How many launches would probably decide what is undecided; of few points, all of them."""

    def cost(launches: int, seconds: float | None, noun: str = "") -> str:
        if launches >= _MANY_LAUNCHES:
            return f"over {_MANY_LAUNCHES}{noun}"
        return f"{launches}{noun}" + (f" ({show_seconds(seconds)} more)" if seconds is not None else "")

    def in_all(launches: int, seconds: float | None) -> str:
        text = cost(launches, seconds, " launches in all")
        return f"About {text}" if launches < _MANY_LAUNCHES else text.capitalize()

    of = "the undecided" if decisive.of == undecided else f"{decisive.of} of the undecided"
    if decisive.of < _FEW_UNDECIDED:
        points = "point" if undecided == 1 else "points"
        return f"{in_all(decisive.most, decisive.most_seconds)} should decide {of} {points}."
    half = f"{in_all(decisive.half, decisive.half_seconds)} should decide half of {of} points"
    if decisive.half >= _MANY_LAUNCHES:
        return f"{half}."
    return f"{half}, {cost(decisive.most, decisive.most_seconds)} nine in ten."


def _in_each_state(differing: Sequence[str]) -> str:
    more = f"; and {len(differing) - _MOST_NAMED} more" if len(differing) > _MOST_NAMED else ""
    return (
        f"States of the machine differ in their verdict at {counted(len(differing), 'point')}, which count as slower: "
        f"{'; '.join(differing[:_MOST_NAMED])}{more}."
    )


def _losses(verdict: Verdict) -> Iterator[str]:
    """The largest gains, one an operation, each with what switches its best algorithm on."""
    for word, loss in zip(_RANKING, verdict.losses, strict=False):
        yield f"{word}: {_loss(loss)}."
        if loss.set_by:
            where = (
                "by rules (`timpani rules`)"
                if loss.best_label.startswith(OWN)
                else f"in all calls of {loss.collective}"
            )
            yield f"  {loss.best_label} {where}: {loss.set_by} …"
            if loss.elsewhere and not loss.best_label.startswith(OWN):
                yield f"  {loss.best_label} is {loss.elsewhere}"
    if not verdict.settings_recorded:
        yield NOT_RECORDED


def _loss(loss: Loss) -> str:
    size = f" at {show_size(loss.message_bytes)}" if _sized(loss.collective) else ""
    known = loss.gain_low is not None and loss.gain_high is not None
    ends = "bounds of 95 % each:" if loss.raced else "95 % interval"
    interval = f" ({ends} {loss.gain_low:.2f} … {loss.gain_high:.2f})" if known else ""
    where = f"{loss.collective}{size} on {counted(loss.ranks, 'rank')}"
    return f"{where}: {loss.best_label} is {loss.gain:.2f} × as fast{interval}"
