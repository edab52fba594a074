"""Compare the library with and without its tuning files, across starts.

A library reads its tuning files when it starts, so one start measures it either with files or without. Some algorithms
can be forced in both kinds of start; there they run interleaved with the library. Each start gives the ratio of the
library to the same forced algorithms. Effects of the machine on a whole start cancel in the product:

    default / with files = (default / forced, in a start without files) · (forced / with files, in a start with files)

Each launch gives one such ratio, from two consecutive starts. Several forced algorithms enter by their geometric mean.
"""

from collections.abc import Iterable, Mapping
from math import exp, log

from timpani.study.cell import Algorithm, under_files


def ratios_across_starts(
    rows: Iterable[tuple[int, str | None, float | None, Algorithm]], default: Algorithm, files: Algorithm
) -> list[float]:
    """default / files at one point: one ratio for each launch that measured both together with the same algorithms.

    rows  launch, `interleaving`, `relative` and algorithm of each result at the point
    """
    by_launch: dict[int, dict[str, dict[Algorithm, float]]] = {}
    for launch, interleaving, relative, algorithm in rows:
        if interleaving and relative:
            by_launch.setdefault(launch, {}).setdefault(interleaving, {})[algorithm] = log(relative)
    found = []
    for turns in by_launch.values():
        without = next((times for times in turns.values() if default in times), {})
        under = next((times for times in turns.values() if files in times), {})
        shared = [each for each in without if under_files(each) in under]
        if shared:
            excess = _log_excess(without, default, shared)
            found.append(exp(excess - _log_excess(under, files, map(under_files, shared))))
    return found


def _log_excess(logs: Mapping[Algorithm, float], one: Algorithm, others: Iterable[Algorithm]) -> float:
    """The log time of `one` minus the mean log time of `others`."""
    values = [logs[each] for each in others]
    return logs[one] - sum(values) / len(values)
