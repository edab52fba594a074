"""Overhead of a start of the MPI program: start-up, clock synchronization and shutdown, without measured points."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from timpani.campaign.folder.launch_result import LaunchResult


class StartCosts:
    """What starts took, by their results and endings."""

    def __init__(self) -> None:
        self._points: defaultdict[str, set[tuple[float, float]]] = defaultdict(set)  # of each start: setup, turns

    def take(self, result: LaunchResult) -> None:
        """One more result; all of a point say the same of it."""
        if result.part and result.setup_s is not None and result.bursts_s is not None:
            self._points[result.part].add((result.setup_s, result.bursts_s))

    def before(self, launch: int, ranks: int, endings: Iterable[Mapping[str, Any]]) -> float | None:
        """Seconds of a start of `ranks` ranks, the median of those in launches before number `launch`; None where none
        came to its end.

        endings  lines of endings.jsonl
        """
        known = [
            each["seconds"] - sum(map(sum, self._points[each["part"]]))
            for each in endings
            if each.get("ended") == "finished"
            and each.get("world") == ranks
            and each["part"] in self._points
            and int(each["part"].partition("-")[0]) < launch
        ]
        return max(0.0, median(known)) if known else None
