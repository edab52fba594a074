"""How to read the figures: what the captions of several of them would otherwise repeat."""

from collections.abc import Iterator

from timpani.charts.marks.interval_bars import HOW_CUT
from timpani.charts.marks.labeled_curves import IN_STEPS
from timpani.charts.marks.latency_columns import coverage
from timpani.charts.marks.placement_rows import ORDER
from timpani.charts.marks.row_filter import SIZE_SERIES
from timpani.charts.marks.status import shape_key
from timpani.report.page.contents import Report
from timpani.report.verdict.difference_words import EXACT, faster
from timpani.stats.compare import ALPHA, INDIFFERENCE
from timpani.stats.regret import ALPHA as RACE_ALPHA
from timpani.study.counted import per_cent

_ONE_COLOR = "An algorithm has the same color in all figures, and the default is black, or white on a dark page."
_SIGNIFICANCE = (
    f"A ratio is significant if its interval lies outside {INDIFFERENCE[0]} to {INDIFFERENCE[1]}. The interval has "
    f"{per_cent(1 - ALPHA)} confidence for all algorithms of a point together, by Holm’s correction; in a race each of "
    f"its two bounds has {per_cent(1 - RACE_ALPHA)}."
)


def _ties(words: str) -> str:
    return (
        f"A tie in the map: no algorithm is {words} than the default there, and the default is not {words} than all "
        "others."
    )


def figure_guide(report: Report) -> Iterator[str]:
    """What applies to the figures of this report, a paragraph each."""
    drawn = {name for name, panels in report.panels.items() if panels}
    if not drawn:
        return
    yield _ONE_COLOR
    if covered := coverage(report.cells):
        yield f"A line through a point is its {covered} confidence interval over launches. {HOW_CUT}"
    if "speedup" in drawn:
        yield EXACT if report.campaign.simulated else _SIGNIFICANCE
    if "algorithm-map" in drawn:
        yield _ties(faster(report.campaign.simulated))
    if drawn & {"placements", "unsized"}:
        yield ORDER
    if report.cells[SIZE_SERIES].is_not_null().any():
        yield IN_STEPS
    if key := shape_key(set(report.cells["status"])):
        yield key
