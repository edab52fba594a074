"""Warnings about a campaign's cells, each with what to do."""

import re
from collections.abc import Iterator

import polars as pl

from timpani.stats.sample import LATENESS_TOLERANCE, LATENESS_TOLERANCE_US
from timpani.study.words import counted, per_cent

_STATUS_TEXTS = {
    "average_only": "are imported averages: a single run or few, without an interval",
    "wide": (
        "have intervals wider than half of their median; ratios may still be precise, since they are compared within "
        "launches"
    ),
    "skewed": "had ranks that did not start together: part of their time is waiting for the last rank to start",
    "lateness_missed": (
        "had a launch in which ranks did not enter as their arrival pattern requests, by over "
        f"{per_cent(LATENESS_TOLERANCE)} of the lateness and over {LATENESS_TOLERANCE_US:g} µs: that time is of "
        "another pattern, and decisions include it"
    ),
    "oversubscribed": "had more ranks than cores: they say little about a machine with a core for each rank",
    "simulated": "are simulated: nothing varies, and their distance from a real machine is unknown",
    "failed": "failed in at least one launch: `timpani show --format csv` names the cause",
}

_UNSTEADY = (
    "did not converge: in most launches their calls varied too much for the requested precision; more launches still "
    "narrow the interval over launches"
)

_SINGULAR = {
    "they are": "it is",
    "they say": "it says",
    "their": "its",
    "intervals": "an interval",
    "imported averages": "an imported average",
}
"""Phrases of these sentences with their singular."""

_TOO_FEW = pl.col("launches") < pl.col("launches_needed")


def cell_warnings(cells: pl.DataFrame, launches_asked: int | None) -> Iterator[str]:
    """A sentence for each limitation of some of the cells of `estimate_cells`."""
    has = {word: pl.col("status").str.split("+").list.contains(word) for word in ("not_converged", *_STATUS_TEXTS)}
    if few := cells.filter(_TOO_FEW).height:
        needed = max(cells.filter(_TOO_FEW)["launches_needed"].to_list())
        advice = launches_advice(cells, launches_asked)
        yield (
            f"{few} of {counted(cells.height, 'cell')} {_agreeing('have fewer', few)} than the {needed} launches that "
            f"a comparison takes{': ' if advice else ''}{advice}"
        )
    warned = {_UNSTEADY: has["not_converged"] & ~_TOO_FEW} | {text: has[word] for word, text in _STATUS_TEXTS.items()}
    warned["have bimodal times: two separated groups, of which the median describes only one"] = pl.col("bimodal")
    for text, condition in warned.items():
        if count := cells.filter(condition).height:
            yield f"{count} of {counted(cells.height, 'cell')} {_agreeing(text, count)}"


def _agreeing(text: str, count: int) -> str:
    """The text in the singular if `count` is 1; its first word is its verb."""
    if count > 1:
        return text
    verb, rest = text.split(" ", 1)
    for many, one in _SINGULAR.items():
        rest = re.sub(rf"\b{many}\b", one, rest)
    return f"{ {'have': 'has', 'are': 'is'}.get(verb, verb) } {rest}"


def launches_advice(cells: pl.DataFrame, launches_asked: int | None) -> str:
    """How to measure the launches that cells lack; empty if none are missing or they cannot be measured again.

    `launches_asked` is the number that the campaign's study requests.
    """
    short = cells.filter(_TOO_FEW)
    if short.is_empty() or launches_asked is None:
        return ""
    needed = max(short["launches_needed"].to_list())
    if launches_asked < needed:
        return f"measure with --launches {needed} or more"
    if short["status"].str.contains("failed").all():
        return "the others failed"
    return "the same `timpani run` command measures the missing ones"
