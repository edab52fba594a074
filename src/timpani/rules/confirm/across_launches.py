"""The library with its files against the library without them, which never run in one start: files are read at a start.

Where an algorithm can be forced under files too, it takes turns with the library in both kinds of start. So each start
tells by how much the library differs from the same algorithms, and what the machine does to a start as a whole cancels:

    default / with files = (default / forced, in a start without files) · (forced / with files, in one with them)

One such ratio a launch number, whose starts are neighbours in time; of several forced algorithms the geometric mean.
"""

from collections.abc import Iterable, Mapping
from math import exp, log

from timpani.study.cell import Algorithm, beside_files


def ratios_across_starts(
    rows: Iterable[tuple[int, str | None, float | None, Algorithm]], default: Algorithm, files: Algorithm
) -> list[float]:
    """default / files at one point, one for each launch that measured both beside the same algorithms.

    rows  launch, `in_turn`, `relative` and algorithm of each result there
    """
    by_launch: dict[int, dict[str, dict[Algorithm, float]]] = {}
    for launch, in_turn, relative, algorithm in rows:
        if in_turn and relative:
            by_launch.setdefault(launch, {}).setdefault(in_turn, {})[algorithm] = log(relative)
    found = []
    for turns in by_launch.values():
        without = next((times for times in turns.values() if default in times), {})
        under = next((times for times in turns.values() if files in times), {})
        shared = [each for each in without if beside_files(each) in under]
        if shared:
            above = _above(without, default, shared)
            found.append(exp(above - _above(under, files, map(beside_files, shared))))
    return found


def _above(logs: Mapping[Algorithm, float], one: Algorithm, others: Iterable[Algorithm]) -> float:
    """How far one's log time is above the mean of the others'."""
    values = [logs[each] for each in others]
    return logs[one] - sum(values) / len(values)
