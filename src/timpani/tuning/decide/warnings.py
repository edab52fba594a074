"""What to know of a campaign's cells before their figures are believed, and what a user can do about it."""

import re
from collections.abc import Iterator

import polars as pl

from timpani.stats.sample import LATENESS_TOLERANCE, LATENESS_TOLERANCE_US
from timpani.study.counted import counted, per_cent

_OF_STATUS = {
    "average_only": "are imported averages: a single run or few, without an interval",
    "wide": (
        "have intervals wider than half of their median; ratios may still be precise, since they are compared within "
        "launches"
    ),
    "skewed": "had ranks that did not start together: part of their time is waiting for the last rank to start",
    "lateness_missed": (
        f"had ranks that entered at other times than the arrival pattern says, by over {per_cent(LATENESS_TOLERANCE)} "
        f"of the lateness and over {LATENESS_TOLERANCE_US:g} µs: their times are of another pattern"
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
    "they say": "it says",
    "they are": "it is",
    "their": "its",
    "intervals": "an interval",
    "imported averages": "an imported average",
}
"""Words of these sentences as they are of one cell."""

_TOO_FEW = pl.col("launches") < pl.col("launches_needed")


def cell_warnings(cells: pl.DataFrame, launches_asked: int | None) -> Iterator[str]:
    """A sentence for each thing that is to be known of some of the cells of `estimate_cells`."""
    has = {word: pl.col("status").str.split("+").list.contains(word) for word in ("not_converged", *_OF_STATUS)}
    if few := cells.filter(_TOO_FEW).height:
        needed = max(cells.filter(_TOO_FEW)["launches_needed"].to_list())
        advice = launches_advice(cells, launches_asked)
        yield (
            f"{few} of {counted(cells.height, 'cell')} {_agreeing('have fewer', few)} than the {needed} launches that "
            f"a comparison takes{': ' if advice else ''}{advice}"
        )
    told = {_UNSTEADY: has["not_converged"] & ~_TOO_FEW} | {text: has[word] for word, text in _OF_STATUS.items()}
    told["have bimodal times: two separated groups, of which the median describes only one"] = pl.col("bimodal")
    for text, condition in told.items():
        if count := cells.filter(condition).height:
            yield f"{count} of {counted(cells.height, 'cell')} {_agreeing(text, count)}"


def _agreeing(text: str, count: int) -> str:
    """The text, whose first word is its verb, as it is of so many cells."""
    if count > 1:
        return text
    verb, rest = text.split(" ", 1)
    for many, one in _SINGULAR.items():
        rest = re.sub(rf"\b{many}\b", one, rest)
    return f"{ {'have': 'has', 'are': 'is'}.get(verb, verb) } {rest}"


def launches_advice(cells: pl.DataFrame, launches_asked: int | None) -> str:
    """How to have the launches that cells lack; empty where none do, or nobody here can measure them again.

    `launches_asked` is what the campaign's study asks for.
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
