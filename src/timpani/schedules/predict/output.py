"""Predictions as a document, as JSON, and as a folder with a page and figures."""

from collections.abc import Iterator
from functools import cache
from math import exp
from pathlib import Path
from typing import Any

import polars as pl

from timpani.campaign.folder.sealed import SealedFile
from timpani.errors import UserError
from timpani.report.document.blocks import Block, Bullets, Document, DrawnFigure, Heading, Sentence, Table, Value, rows
from timpani.report.document.html import html_page
from timpani.report.document.output_files import write_files
from timpani.schedules.algorithms.simulation import Costs
from timpani.schedules.predict.model_error import COVERAGE
from timpani.schedules.predict.predictions import WAITING, Predictions, stand_ins, winners
from timpani.schedules.predict.terms import KINDS, RELATIONS, SHARED_BY, SHARED_LINKS
from timpani.study.sizes import show_size, show_sizes
from timpani.study.words import counted, four_digits, per_cent

JSON, PAGE = "predictions.json", "index.html"
FILE = SealedFile(
    "a file of predictions", "predictions", "name what `timpani predict -o` wrote, or a campaign to estimate costs from"
)
"""What the checksum at the end of JSON is of, where that of a campaign's file has the campaign's id."""

_MIN_SHARE = 0.05

_GUESS = 10
"""A time that may be as many times as long is a guess, whose bounds are not worth a figure."""


def costs_object(costs: Costs) -> dict[str, Any]:
    """The costs for JSON, microseconds and microseconds a byte."""
    return {
        "overhead_us": costs.overhead,
        "reduced_us_per_byte": costs.reduced,
        "copied_us_per_byte": costs.copied,
        "eager_us_per_byte": costs.eager,
        "rest_us": costs.rest,
        "eager_below_bytes": costs.eager_below,
        "fair_shares": costs.fair,
        "shared_us_per_byte": dict(zip(SHARED_LINKS, costs.shared, strict=True)),
        "burst_bytes": dict(zip(SHARED_LINKS, costs.burst, strict=True)),
        "idle_us": costs.idle,
        "messages": [
            {
                "between": RELATIONS[relation],
                "first_bytes": line.first_bytes,
                "gap_us": line.gap,
                "us_per_byte": line.per_byte,
                "latency_us": line.latency,
                "latency_us_per_byte": line.latency_per_byte,
            }
            for relation, lines in enumerate(costs.messages)
            for line in lines
        ],
    }


def costs_lines(costs: Costs) -> Iterator[str]:
    """The costs in words, a line for each of messages."""
    several = sum(bool(lines) for lines in costs.messages) > 1
    for relation, lines in enumerate(costs.messages):
        between = f" between ranks of {RELATIONS[relation]}" if several else ""
        for line in lines:
            flight = f" and {four_digits(line.latency_per_byte)} µs/B" if line.latency_per_byte else ""
            yield (
                f"messages{between} from {show_size(line.first_bytes)}: hold their ports for "
                f"{four_digits(line.gap)} µs and {four_digits(line.per_byte)} µs/B, then take "
                f"{four_digits(line.latency)} µs{flight}"
            )
    passing = "share equally" if costs.fair else "pass one behind the other"
    for link, cost, burst in zip(SHARED_LINKS, costs.shared, costs.burst, strict=True):
        if cost:
            bucket = f", but for up to {show_size(int(burst))} at once after a rest" if burst else ""
            yield f"{link}, which messages {passing}: {four_digits(cost)} µs/B{bucket}"
    if any(costs.burst):
        yield f"links that let bytes pass at once have been idle for {four_digits(costs.idle)} µs when a call begins"
    if costs.fair:
        yield "messages that a rank has under way at once share its ports equally, so that all of them end late"
    if costs.eager_below:
        yield (
            f"messages under {show_size(costs.eager_below)}: on their way before their receiver waits for them, once "
            f"their sender has copied them, {four_digits(costs.eager)} µs/B"
        )
    reduced = f"{four_digits(costs.reduced)} µs/B" if costs.reduced else "nothing (not measured: reduce_local)"
    yield (
        f"a message's overhead {four_digits(costs.overhead)} µs, reductions {reduced}, copies "
        f"{four_digits(costs.copied)} µs/B, a call from rest {four_digits(costs.rest)} µs"
    )


def predicted_document(found: Predictions) -> Document:
    """The fastest algorithm of each rank count and size, where it changes, and what was left out."""
    return Document("Predicted, not measured", tuple(_blocks(found)))


def _blocks(found: Predictions) -> Iterator[Block]:
    yield Sentence("status", _status(found))
    yield from (Sentence("costs", line) for line in costs_lines(found.calibration.costs))
    yield from (Sentence("condition", line) for line in conditions(found))
    for (collective,), part in winners(found.times).group_by("collective", maintain_order=True):
        yield Heading(str(collective), f"{collective}, {_word(found)}")
        yield _figure(str(collective), part, _word(found))
        if (part["tied"].list.len() > 1).any():
            hatched = "Hatched in the figure: others may be as fast; the number names the shortest predicted time."
            yield Sentence("hatched", hatched)
        yield _table(part)
        yield from (Sentence("crossover", line) for line in crossovers(part))
    if found.left_out:
        yield Bullets("left_out", tuple(found.left_out), "Left out")


def _figure(collective: str, best: pl.DataFrame, word: str) -> DrawnFigure:
    """The map of the fastest algorithms, drawn when it is asked for."""
    title = f"{collective}: best algorithm, {word}"

    @cache
    def svg() -> str:
        # Here, since a prediction without a page needs nothing that draws.
        from timpani.report.figures.drawn_figures import figure_svg
        from timpani.report.figures.maps import algorithm_map
        from timpani.report.figures.theme import LIGHT

        return figure_svg(algorithm_map(_decisions(best, word), LIGHT), title)

    return DrawnFigure(collective, title, svg)


def predicted_object(found: Predictions) -> dict[str, Any]:
    """For JSON: keys `status`, `machine`, `placement`, `costs_from`, `campaigns`, `library`, `costs`, `conditions`,
    `predictions` (of all algorithms), `winners`, `crossovers` and `left_out`."""
    best = winners(found.times)
    return {
        "status": _word(found),
        "machine": found.request.machine.name if found.request.machine else None,
        "placement": found.request.placement,
        "costs_from": list(found.calibration.costs_from),
        "campaigns": list(found.calibration.campaigns),
        "library": found.calibration.library,
        "costs": costs_object(found.calibration.costs),
        "conditions": [str(found.calibration), *conditions(found)],
        "predictions": found.times.drop("ratio_width").to_dicts(),
        "winners": best.select("collective", "ranks", "message_bytes", "label", "predicted_us", "tied").to_dicts(),
        "crossovers": list(crossovers(best)),
        "left_out": found.left_out,
    }


def check_new(folder: Path, force: bool) -> None:
    """UserError where `folder` is there already, unless `force`; ModuleNotFoundError where nothing draws. It is called
    before anything is simulated."""
    from timpani.report.figures import drawn_figures  # noqa: F401

    if folder.exists() and not force:
        raise UserError(f"{folder} exists already", "choose another name, or overwrite it with --force")


def write_predicted(found: Predictions, folder: Path, force: bool) -> None:
    """Write the page, a figure for each collective and the JSON into `folder`, which is new but for `force`."""
    check_new(folder, force)
    document = predicted_document(found)
    figures = (block for block in document.blocks if isinstance(block, DrawnFigure))
    files = {
        **{Path(f"{figure.name}.svg"): figure.svg().encode() for figure in figures},
        Path(JSON): FILE.text(predicted_object(found)),
        Path(PAGE): html_page(document).encode(),
    }
    write_files(files, folder, force)


def conditions(found: Predictions) -> Iterator[str]:
    """What to know before a figure is believed."""
    error, request = found.calibration.error, found.request
    yield from _followed(found)
    yield from stand_ins(found.calibration, found.closeness)
    most_measured = error.ranks.most if error else 2
    if request.machine is None and max(request.ranks) > most_measured:
        yield "All ranks are taken to be as close to each other as those that were measured; --on names another machine"
    if error is None:
        yield (
            "No interval: only messages between two ranks were measured. A call from rest takes longer than these "
            "times, and how certain the fastest algorithm is remains unknown"
        )
        return
    if error.ranks.assumed and max(request.ranks) > most_measured:
        yield (
            f"Measured at {counted(error.ranks.most, 'rank')} only: how intervals widen with more is assumed, so that "
            f"those of more ranks may hold less often than {per_cent(COVERAGE)}"
        )
    if found.times["low_us"].null_count():
        yield f"Measured at {show_size(error.sizes.most)} only: how far times of other sizes are off is unknown"
    if found.calibration.launches == 1:
        yield "Some calls were measured in one launch only: by how much launches differ is not in the intervals"
    if shared := found.calibration.oversubscription_note():
        yield f"Oversubscribed: {shared}"
    if unknown := found.calibration.unknown:
        yield f"Measured, but without a schedule in this version, so not used: {', '.join(unknown)}"
    if guesses := sum(_is_guess(row) for row in found.times.iter_rows(named=True)):
        are = "is a guess" if guesses == 1 else "are guesses"
        yield (
            f"{guesses} of {counted(len(found.times), 'time')} {are}: for all that is known, off by a factor of more "
            f"than {_GUESS} (`?` in tables). Measure at more rank counts and sizes, nearer to these"
        )
    yield from _bursts(found)
    costs = found.calibration.costs
    unlimited = [
        link
        for link, cost, relation in zip(SHARED_LINKS, costs.shared, SHARED_BY, strict=True)
        if not cost and relation < len(costs.messages)
    ]
    if request.machine is not None and unlimited:
        yield f"No measured call was slowed by others on {' or '.join(unlimited)}: taken to be without a limit"


def _bursts(found: Predictions) -> Iterator[str]:
    """What the machine says of its links that predictions don't heed."""
    machine, burst = found.request.machine, found.calibration.costs.burst
    if machine is None:
        return
    declared = (0.0, float(machine.link_burst or 0), float(machine.uplink_burst or 0))
    for link, measured, said in zip(SHARED_LINKS, burst, declared, strict=True):
        if said and said != measured:
            yield (
                f"{machine.name} lets {show_size(int(said))} pass {link} at once, the measured machine "
                f"{show_size(int(measured)) if measured else 'nothing'}: predicted as on that one"
            )


def _followed(found: Predictions) -> Iterator[str]:
    """Which schedules stand for a library's algorithms."""
    predicted = set(found.times.select("collective", "label", "message_bytes").iter_rows())
    for named in found.request.algorithms:
        off = {size: off for size, off in named.off if (named.collective, str(named.library), size) in predicted}
        if not off:
            continue
        ranks = " and ".join(map(str, named.counted_on))
        crowded = ", with more ranks than cores" if named.oversubscribed else ""
        several = (
            ". Its interval holds all of these: count on more ranks (`--prove`)" if len(named.schedules) > 1 else ""
        )
        yield (
            f"{named} is predicted by {named.sends_as}, whose messages it sent on {ranks} ranks, at "
            f"{show_sizes([*off])}: it took {exp(min(off.values())):.2g} to {exp(max(off.values())):.2g} times as long "
            f"there{crowded}, and its times are multiplied by that{several}"
        )


def crossovers(best: pl.DataFrame) -> Iterator[str]:
    """For each collective and rank count the algorithm that may be the fastest over the sizes, and where another has to
    be taken: as seldom as possible, so that one that ties continues."""
    for (collective, ranks), part in best.group_by("collective", "ranks", maintain_order=True):
        rows = part.sort("message_bytes").to_dicts()
        steps = rows[:1]
        for row in rows[1:]:
            if steps[-1]["label"] not in row["tied"]:
                steps.append(row)
        if len(steps) > 1:
            winners = ", ".join(f"{row['label']} from {show_size(row['message_bytes'])}" for row in steps)
            yield f"{collective} on {counted(int(str(ranks)), 'rank')}: {winners}"


def _table(best: pl.DataFrame) -> Table:
    entries = []
    for row in best.iter_rows(named=True):
        others = row["tied"][1:]
        tied = f"; {', '.join(others[:3])}{f' and {len(others) - 3} more' if len(others) > 3 else ''}" if others else ""
        bounds = {"detail": "?"} if _is_guess(row) else {"low": row["low_us"], "high": row["high_us"]}
        entries.append(
            (
                row["ranks"],
                Value(row["message_bytes"], show=show_size),
                Value(row["predicted_us"], show=four_digits, **bounds),
                _composition(row),
                f"{row['label']}{tied}",
            )
        )
    columns = ("ranks", "size", "predicted µs", "consists of", "fastest; may be as fast")
    return Table("winners", columns, rows(entries), annotation=f"{per_cent(COVERAGE)} interval")


def _is_guess(row: dict[str, Any]) -> bool:
    return row["high_us"] is not None and bool(row["high_us"] > _GUESS * row["predicted_us"])


def _composition(row: dict[str, Any]) -> str:
    parts = {kind: row[f"{kind}_share"] for kind in KINDS}
    shares = [
        f"{kind} {share:.0%}" for kind, share in sorted(parts.items(), key=lambda each: -each[1]) if share >= _MIN_SHARE
    ]
    waiting = row[f"{WAITING}_share"]
    return ", ".join(shares) + (f" ({WAITING} {waiting:.0%})" if waiting >= _MIN_SHARE else "")


def _word(found: Predictions) -> str:
    return "predicted+simulated" if found.calibration.simulated else "predicted"


def _status(found: Predictions) -> str:
    machine = f" for {found.request.machine.name}" if found.request.machine else ""
    return f"Predicted, not measured{machine}, by {found.calibration}"


def _decisions(best: pl.DataFrame, status: str) -> pl.DataFrame:
    """Winners as the map of algorithms reads them."""
    return best.select(
        "ranks",
        "message_bytes",
        "tied",
        pl.col("label").alias("best_label"),
        pl.col("predicted_us").alias("best_us"),
        pl.lit(None, pl.Float64).alias("default_us"),
        pl.when(pl.col("tied").list.len() > 1).then(pl.lit("tie")).otherwise(pl.lit("faster")).alias("verdict"),
        pl.lit(status).alias("status"),
    )
