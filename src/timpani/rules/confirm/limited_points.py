"""Which confirmed points fail under a limit on changes."""

from collections.abc import Iterable

from timpani.rules.confirm.confirmation import ConfirmedPoint
from timpani.tuning.compare.change_limit import ChangeLimit
from timpani.tuning.compare.changes import FASTER


def changes_meeting(limit: ChangeLimit, confirmed: Iterable[ConfirmedPoint]) -> list[float]:
    """The largest change of each point that meets `limit`, as a share of the shorter time.

    Only the significant ratios that decided the standing are included. A launch that failed has no ratio and is left to
    `losing`.
    """
    wanted = "gained" if limit.standing == FASTER else "lost"
    largest = []
    for each in confirmed:
        if each.standing != wanted:
            continue
        ratios = (found.ratio for found in (each.gain, each.by_file) if found and found.significant)
        if met := [limit.change(ratio) for ratio in ratios if limit.is_met(ratio)]:
            largest.append(max(met))
    return largest
