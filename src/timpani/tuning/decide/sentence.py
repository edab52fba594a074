"""The verdict on one operation as a sentence."""

import polars as pl

from timpani.study.cell import OWN
from timpani.study.operations import OPERATIONS
from timpani.study.words import counted
from timpani.tuning.decide.decide import BY_VALUE, EQUIVALENCE_MARGIN, EQUIVALENCE_RATIO, SLOWER, UNDECIDED, WITHIN
from timpani.tuning.decide.lowest import most_frequent


def sentence(collective: str, decisions: pl.DataFrame) -> str:
    """The decisions at all points of one operation as a sentence.

    decisions  the columns of `decide`, and `schedules`, the names of each schedule with the lowest time
    """
    decided = decisions.filter(pl.col("verdict").is_not_null())
    if collective in OPERATIONS and OPERATIONS[collective].kind == "transpose":
        return _fastest(collective, decisions)
    if decided.is_empty():
        return f"{collective}: nothing to compare the default with"
    if (decided["verdict"] == BY_VALUE).all():
        return _by_value(collective, decided)
    count = dict(decided.group_by("standing").len().iter_rows())
    parts = []
    if within := count.get(WITHIN):
        parts.append(f"within {EQUIVALENCE_MARGIN} of the best at {within}")
    if slower := count.get(SLOWER):
        faster = decided.filter(pl.col("standing") == SLOWER)["schedules"]
        parts.append(f"slower at {slower}, where the best is most often {most_frequent(faster)}")
    parts = [f"the default is {parts[0]}", *parts[1:]] if parts else []
    if ahead := decided.filter(_library_beaten()).height:
        parts.append(f"a Timpani algorithm beats every algorithm of the library at {counted(ahead, 'point')}")
    if undecided := count.get(UNDECIDED):
        parts.append(f"{undecided} of {decided.height} undecided")
    return f"{collective}, {counted(decided.height, 'point')}: {'; '.join(parts)}"


STANDING_WORDS = {WITHIN: f"within {EQUIVALENCE_MARGIN} of the best", SLOWER: "slower", UNDECIDED: "undecided"}
"""How the default compares with the other algorithms, by the column `standing`."""


def _by_value(collective: str, decisions: pl.DataFrame) -> str:
    """The sentence for imported averages alone."""
    close = decisions.filter(pl.col("default_regret") <= EQUIVALENCE_RATIO - 1).height
    times = decisions.explode("schedules").group_by("schedules").len()
    ranked = times.sort("len", "schedules", descending=[True, False]).iter_rows()
    best = ", ".join(f"{label} ({count})" for label, count in ranked)
    shared = decisions.filter(pl.col("schedules").list.len() > 1).height
    ties = f", {shared} of them shared" if shared else ""
    by_value = f"the default is within {EQUIVALENCE_MARGIN} of the best at {close}; lowest times{ties}: {best}"
    return f"{collective}, {counted(decisions.height, 'point')} by value: {by_value}"


def _library_beaten() -> pl.Expr:
    """Whether the best is one of Timpani's algorithms and every algorithm of the library is significantly slower."""
    return pl.col("tied").list.eval(pl.element().str.starts_with(f"{OWN}/")).list.all()


def _fastest(operation: str, decisions: pl.DataFrame) -> str:
    """The sentence for an operation without a default: at how many points one way is fastest, or several are tied."""
    alone = decisions.filter(pl.col("tied").list.len() == 1)
    parts = [f"tied at {decisions.height - alone.height}"] if alone.height < decisions.height else []
    if alone.height:
        parts.insert(0, f"one way fastest at {alone.height}, most often {most_frequent(alone['schedules'])}")
    return f"{operation}, {counted(decisions.height, 'point')}: {'; '.join(parts)}"
