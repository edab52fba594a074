"""A campaign as plain text: the table of its cells, and the verdict."""

from collections.abc import Iterator, Sequence

import polars as pl

from timpani.study.collectives import COLLECTIVES
from timpani.study.sizes import show_size
from timpani.tuning.decide import Loss, Verdict

SIMULATED = "Simulated: nothing varies, so that there is no interval."
AVERAGES_ONLY = "Imported: OSU prints averages only, so there is no median and no interval."


def cell_table(cells: pl.DataFrame) -> str:
    """A block per collective, rank count, placement, mode and machine; `cells` is what `estimate_cells` returns.

    Imported cells have OSU's average in place of the median, and the block says so.
    """
    blocks = cells.group_by("collective", "ranks", "placement", "mode", "machine", maintain_order=True)
    return "\n".join(_block(block) for _, block in blocks)


def _block(cells: pl.DataFrame) -> str:
    first = cells.row(0, named=True)
    imported = bool((cells["median_us"].is_null() & cells["osu_avg_us"].is_not_null()).any())
    simulated = cells["status"].str.contains("simulated").all()
    if imported:
        note, times = [AVERAGES_ONLY], {"OSU avg µs": "osu_avg_us"}
    elif simulated:
        note, times = [SIMULATED], {"µs": "median_us"}
    else:
        note, times = [], {"median µs": "median_us", "from": "ci_low_us", "to (95 %)": "ci_high_us"}
    sized = _sized(first["collective"])
    rows = [("algorithm", *(["size"] if sized else []), *times, "status")]
    for row in cells.iter_rows(named=True):
        size = [show_size(row["message_bytes"])] if sized else []
        rows.append((row["label"], *size, *(_time(row[column]) for column in times.values()), row["status"]))
    heading = (
        f"{_title(first['collective'])}, {first['ranks']} ranks, {first['placement']}, {first['mode']}, "
        f"on {first['machine']}"
    )
    return "\n".join([heading, *note, *aligned(rows)]) + "\n"


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


def _title(collective: str) -> str:
    return COLLECTIVES[collective].title if collective in COLLECTIVES else collective


def _sized(collective: str) -> bool:
    return collective not in COLLECTIVES or COLLECTIVES[collective].sized


def _time(microseconds: float | None) -> str:
    return "–" if microseconds is None else f"{microseconds:.3f}"


def verdict_lines(verdict: Verdict) -> list[str]:
    """The verdict as `timpani run` prints it: the answer, where it matters most, each collective, then warnings."""
    return list(_verdict_lines(verdict))


def _verdict_lines(verdict: Verdict) -> Iterator[str]:
    if verdict.within_5_percent is None:
        yield "Verdict: none; the default could be compared with nothing."
    elif not verdict.can_tell:
        yield (
            "Verdict: none yet; with so few launches no difference can be significant: "
            f"measure with --launches {verdict.launches_needed} or more."
        )
    else:
        yield (
            f"Verdict: the default is within 5 % of the best at {verdict.within_5_percent:.0%} "
            f"of {verdict.decided} points (collective, ranks, size)."
        )
        yield f"Worst loss: {_loss(verdict.worst)}." if verdict.worst else "No algorithm is significantly faster."
    yield from (f"  {sentence}" for sentence in verdict.sentences)
    yield from (f"Warning: {warning}" for warning in verdict.warnings)


def _loss(loss: Loss) -> str:
    size = f" at {show_size(loss.message_bytes)}" if _sized(loss.collective) else ""
    known = loss.gain_low is not None and loss.gain_high is not None
    interval = f" (95 % interval {loss.gain_low:.2f} … {loss.gain_high:.2f})" if known else ""
    return (
        f"{loss.collective}{size} on {loss.ranks} ranks, where {loss.best_label} is {loss.gain:.2f} × as fast{interval}"
    )
