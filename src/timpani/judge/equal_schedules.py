"""Algorithms that are one schedule under several names.

The evidence is counted messages, knowledge about a library, or equal simulated times.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from typing import Any

import polars as pl

from timpani.stats.compare import INDIFFERENCE
from timpani.study.cell import DEFAULT
from timpani.study.schema import POINT, cell_of

SAME_US = 0.0025
"""Maximum difference of equal simulated times: a time is the difference of two readings in whole nanoseconds."""

JOINED = " = "
"""Separator between the names of one schedule."""

_PLACE = ("placement", "mode", "arrival", "machine", "variant")

_Intervals = dict[str, dict[tuple[Any, ...], tuple[float, float]]]
"""By label and `_PLACE` the interval of the default's time divided by the algorithm's, the fastest label first."""

EqualSchedules = Mapping[tuple[str, int, int], Sequence[tuple[str, ...]]]
"""The labels of each schedule with several names, in order, by collective, ranks and message_bytes."""


def equal_schedules(
    cells: pl.DataFrame, proofs: Iterable[Mapping[str, Any]], on_two_ranks: Mapping[str, Sequence[Sequence[str]]]
) -> EqualSchedules:
    """The schedules with several names, without the default, which is always one of the library's algorithms.

    cells         measured cells: columns collective, algorithm, ranks, message_bytes and `label`
    proofs        a campaign's `proofs`
    on_two_ranks  by collective, names of the library's algorithms that are one schedule on 2 ranks
    """
    measured = cells.filter(pl.col("algorithm") != DEFAULT).group_by("collective", "ranks", "message_bytes")
    labels = {(str(c), int(r), int(b)): set(found) for c, r, b, found in measured.agg(pl.col("label")).iter_rows()}
    counted = _counted(proofs)
    found: dict[tuple[str, int, int], list[tuple[str, ...]]] = {}
    for point, there in labels.items():
        collective, ranks, _ = point
        known = on_two_ranks.get(collective, ()) if ranks == 2 else ()
        sets = _joined([there.intersection(each) for each in (*known, *counted.get(point, ()))])
        if several := sorted(tuple(sorted(each)) for each in sets if len(each) > 1):
            found[point] = several
    return found


def schedule_name(equal: EqualSchedules, collective: str, ranks: int, message_bytes: int, label: str) -> str:
    """The label, or all names of its schedule if it has several."""
    sets = equal.get((collective, ranks, message_bytes), ())
    return JOINED.join(next((each for each in sets if label in each), (label,)))


def without_contradictions(equal: EqualSchedules, compared: pl.DataFrame) -> EqualSchedules:
    """The schedules, divided where times contradict that algorithms are one: the code may differ, not the messages.

    compared  each algorithm against the default at the same point, of `compare_with_default`
    """
    intervals: defaultdict[tuple[str, int, int], _Intervals] = defaultdict(dict)
    fastest_first = compared.sort("ratio", descending=True)
    columns = ("collective", "ranks", "message_bytes", "label", "ratio_low", "ratio_high", *_PLACE)
    for collective, ranks, size, label, low, high, *place in fastest_first.select(columns).iter_rows():
        intervals[collective, ranks, size].setdefault(label, {})[tuple(place)] = (low or 0.0, high or inf)
    divided = {point: [*_divided(sets, intervals[point])] for point, sets in equal.items()}
    return {point: sorted(sets) for point, sets in divided.items() if sets}


def _divided(sets: Iterable[tuple[str, ...]], intervals: _Intervals) -> Iterator[tuple[str, ...]]:
    """Each set as the sets of those that agree with their fastest, without sets of one."""
    for names in sets:
        left = [*(label for label in intervals if label in names), *(each for each in names if each not in intervals)]
        while len(left) > 1:
            fastest, *others = left
            left = [each for each in others if not _may_agree(intervals.get(fastest, {}), intervals.get(each, {}))]
            same = [fastest, *(each for each in others if each not in left)]
            if len(same) > 1:
                yield tuple(sorted(same))


def _may_agree(first: Mapping[Any, tuple[float, float]], second: Mapping[Any, tuple[float, float]]) -> bool:
    """Whether no two intervals are apart by more than what counts as a difference."""
    return all(
        first[place][0] <= second[place][1] * INDIFFERENCE[1] and second[place][0] <= first[place][1] * INDIFFERENCE[1]
        for place in first.keys() & second.keys()
    )


def _joined(sets: Iterable[set[str]]) -> list[set[str]]:
    """The sets, merged if they share a name."""
    found: list[set[str]] = []
    for each in sets:
        apart = [other for other in found if not other & each]
        found = [*apart, each.union(*(other for other in found if other & each))]
    return found


def _counted(proofs: Iterable[Mapping[str, Any]]) -> dict[tuple[str, int, int], list[set[str]]]:
    """The labels whose counted messages are equal and determine their order (`_is_tree`), by point.

    A library's and Timpani's algorithms are never joined: other code sends the same messages in another time.
    """
    by_messages: defaultdict[tuple[Any, ...], set[str]] = defaultdict(set)
    for proof in proofs:
        if _is_tree(proof["messages"]):
            point = (proof["collective"], proof["ranks"], proof["message_bytes"])
            algorithm = cell_of(dict(proof)).algorithm
            by_messages[point, algorithm.provider, str(proof["messages"]), str(proof["bytes"])].add(algorithm.label)
    found: defaultdict[tuple[str, int, int], list[set[str]]] = defaultdict(list)
    for (point, *_), labels in by_messages.items():
        found[point].append(labels)
    return found


def _is_tree(messages: Sequence[Sequence[int]]) -> bool:
    """Whether messages flow from or to each rank's only parent.

    In a tree, data dependencies determine the order of messages, except between siblings. In contrast, two ranks that
    exchange messages may do so at the same time or one after the other, which counts do not show.
    """
    sent = [[int(count > 0) for count in row] for row in messages]
    both_ways = any(sent[i][j] and sent[j][i] for i in range(len(sent)) for j in range(i))
    most_out, most_in = max(map(sum, sent)), max(map(sum, zip(*sent, strict=True)))
    edges = sum(map(sum, sent))
    return not both_ways and min(most_out, most_in) == 1 and edges == len(sent) - 1


def same_simulated_times(cells: pl.DataFrame) -> tuple[str, ...]:
    """As text, the algorithms with the same simulated time at half of an operation's points or more.

    cells  of `estimate_cells`. The default is excluded, because it is always one of the library's algorithms.
    """
    simulated = cells.filter(
        pl.col("status").str.contains("simulated"), pl.col("median_us").is_not_null(), pl.col("algorithm") != DEFAULT
    ).sort(*POINT, "median_us", "label")
    apart = (pl.col("median_us").diff() > SAME_US).fill_null(False).cum_sum().over(POINT).alias("apart")
    same = simulated.with_columns(apart).group_by(*POINT, "apart").agg(pl.col("label").sort())
    points = Counter(simulated.select(POINT).unique()["collective"])
    together = Counter((row["collective"], tuple(row["label"])) for row in same.iter_rows(named=True))
    return tuple(
        f"{collective}: {', '.join(labels[:-1])} and {labels[-1]} took the same simulated time at {count} of "
        f"{points[collective]} points: a simulation can't distinguish them there, a lab (--on lab) or a cluster can"
        for (collective, labels), count in sorted(together.items(), key=lambda item: (item[0][0], -item[1], item[0][1]))
        if len(labels) > 1 and 2 * count >= points[collective]
    )
