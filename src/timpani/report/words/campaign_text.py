"""A campaign as plain text: the table of its cells."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from timpani.charts.marks.latency_columns import coverage
from timpani.study.counted import counted
from timpani.study.operations import OPERATIONS, Quantity, title_of
from timpani.study.schema import BOUND, LOCALITY, MEASURED_US, STATES, SWEEP
from timpani.study.sizes import show_size

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
    "rate": 1e6 / MEASURED_US,
    "rate_low": 1e6 / pl.col("ci_high_us"),
    "rate_high": 1e6 / pl.col("ci_low_us"),
}
"""Messages per second, from microseconds per message."""

_BY_STATE = (
    "The machine was in several states: what all launches say together is a mixture, and beside it stands each state's "
    "median with its share of the launches."
)
SIMULATED = "Simulated: nothing varies, so that there is no interval."
AVERAGES_ONLY = "Imported: OSU prints averages only, so there is no median and no interval."


@dataclass(frozen=True)
class Block:
    """The cells of one operation, rank count, placement, mode and machine as text: `rows` begins with the headings."""

    heading: str
    notes: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def cell_table(cells: pl.DataFrame) -> str:
    """The blocks of `blocks` as aligned columns, with a footnote about intervals where there are any."""
    found = ["\n".join([each.heading, *each.notes, *aligned(each.rows)]) + "\n" for each in blocks(cells)]
    return "\n".join([*found, *(f"{note}\n" for note in _footnotes(cells))])


def cell_markdown(cells: pl.DataFrame) -> str:
    """The blocks of `blocks` as Markdown tables under headings, with the same footnote."""
    found = ["\n".join(_markdown(each)) for each in blocks(cells)]
    return "\n".join([*found, *(f"{note}\n" for note in _footnotes(cells))])


def _footnotes(cells: pl.DataFrame) -> Iterator[str]:
    """What the intervals cover."""
    if covered := coverage(cells):
        some = "; fewer launches cover less: `ci_coverage` in --format csv" if " to " in covered else ""
        yield f"from, to: interval over launches, which covers {covered}{some}"


def blocks(cells: pl.DataFrame) -> Iterator[Block]:
    """A block per operation, rank count, placement, mode and machine.

    `cells` is what `estimate_cells` returns; with a column `locality` it stands beside messages between ranks.
    With a column BOUND what the links alone take stands beside each time.
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
    headings = [*shown]
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
