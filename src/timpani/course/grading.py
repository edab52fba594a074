"""Check a student's algorithm: verified, a mistake drawn, timed, and graded."""

import contextlib
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from math import log
from pathlib import Path
from typing import Any

import polars as pl

from timpani import __version__
from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.cell_table import estimate_cells
from timpani.course.assignment import ALGORITHM, START, Assignment
from timpani.errors import AlgorithmError, UserError
from timpani.libraries.catalogue import Catalogue
from timpani.native.crash import ResourceLimits
from timpani.providers.verification import verify_algorithms
from timpani.report.words.drawing import Drawing, View
from timpani.schedules.simulation import CostLine, Costs, NotSimulated, SimulatedCall, Simulator
from timpani.study.cell import OWN, Algorithm

COUNTEREXAMPLE = "counterexample.svg"

VERIFIED_POINTS, TIME_POINTS, REPORT_POINTS = 50, 40, 10

MIN_GAIN = 1.1
"""Ratio of the start's time to the reference's at a point that is graded."""

MIN_WORDS = 150
"""Words of a discussion that gives its points; a teacher reads it."""

_RANKS, _ELEMENTS = (1, 33), (0, 33)
"""Rank and element counts that are verified; no power of two is left out, and each has neighbors."""

_LIMITS = ResourceLimits(processor_seconds=20, memory_bytes=4 << 30)
"""Of a step of verification: an algorithm whose rounds never end, or hold ever more steps, is wrong. A right one takes
less than a second and 100 MB."""

EXAMPLE_COSTS = Costs(
    overhead=0.5,
    reduced=1e-4,
    copied=1e-4,
    messages=((CostLine(gap=1.0, per_byte=1e-4, latency=0.5),),),
)
"""Of the simulated machine, in µs and bytes: a port passes a message each µs, at most 10 GB/s. It is an example and
describes no real one; each task's reference is faster than its start at some point on it."""

_MISTAKE = re.compile(
    r"(?P<ranks>\d+) ranks, (?P<count>\d+) elements(?:, root (?P<root>\d+))?(?P<parameters>(?:, \w+ \d+)*)[:,]"
)
"""A call as the verifier names it. One that ends the verifier has no such name."""


@dataclass(frozen=True)
class TimedPoint:
    """Times in µs at one point, by algorithm: the student's, the start's and the reference's.

    share  of the way from the start to the reference, on a logarithmic scale, 0 to 1; None where the reference is
           not MIN_GAIN times as fast as the start
    """

    ranks: int
    message_bytes: int
    mine_us: float
    start_us: float
    reference_us: float
    share: float | None

    @classmethod
    def from_times(cls, ranks: int, size: int, mine: float, start: float, reference: float) -> "TimedPoint":
        """The point with its share."""
        share = None
        if start >= MIN_GAIN * reference:
            share = min(1.0, max(0.0, log(start / mine) / log(start / reference)))
        return cls(ranks, size, mine, start, reference, share)


@dataclass(frozen=True)
class Verified:
    """The verifier's finding: checked cases, and the first mistake with its drawing, if there is one."""

    cases: int
    mistake: str | None
    drawing: Path | None


def verify_student(
    assignment: Assignment, programs: Path, own: Catalogue, into: Path, passed: Callable[[float], None]
) -> Verified:
    """Verify the student's algorithm; a mistake is drawn into the folder `into`.

    AlgorithmError where the student's file registers another name.
    """
    drawing = into / COUNTEREXAMPLE
    drawing.unlink(missing_ok=True)
    file, _ = assignment.student_file()
    if ALGORITHM not in (each.name for each in own.algorithms[assignment.collective]):
        raise AlgorithmError(f"{file} registers no {assignment.name}", "restore its .collective and its .name")
    [finding] = verify_algorithms(programs, [assignment.name], _RANKS, _ELEMENTS, passed, _LIMITS)
    mistake = finding.get("mistake")
    if mistake is None:
        return Verified(finding["checked"], None, None)
    drawn = _draw(assignment, mistake, Simulator(programs), own, drawing)
    return Verified(finding["checked"], mistake, drawing if drawn else None)


def _draw(assignment: Assignment, mistake: str, simulator: Simulator, own: Catalogue, file: Path) -> bool:
    """Draw the call with the mistake, up to where ranks wait; whether it could be drawn.

    It can't if the call ends the simulator too, or depends on which ranks share a node.
    """
    found = _MISTAKE.match(mistake)
    if found is None:
        return False
    values = ",".join(map("=".join, re.findall(r"(\w+) (\d+)", found["parameters"])))
    name = f"{assignment.name}:{values}" if values else assignment.name
    ranks, count, root = (int(found[part] or 0) for part in ("ranks", "count", "root"))
    with contextlib.suppress(UserError):
        drawing = replace(Drawing.from_name(name, own, ranks, count, root), note=mistake)
        drawing.write(simulator, View.timeline, file)
        return True
    return False


def simulated_points(assignment: Assignment, programs: Path, own: Catalogue) -> list[TimedPoint]:
    """The times on the machine of EXAMPLE_COSTS."""
    names = (ALGORITHM, START, assignment.reference)
    algorithms = [own.resolve(assignment.collective, Algorithm.parse(name)) for name in names]
    points = [(ranks, size) for ranks in assignment.ranks for size in assignment.sizes]
    calls = [SimulatedCall(assignment.collective, each, *point) for point in points for each in algorithms]
    times = Simulator(programs).times(calls, EXAMPLE_COSTS)
    found = []
    for number, (ranks, size) in enumerate(points):
        known = [each for each in times[3 * number : 3 * number + 3] if not isinstance(each, NotSimulated)]
        if len(known) == len(names):  # an algorithm may not apply to a number of ranks
            found.append(TimedPoint.from_times(ranks, size, *known))
    return found


def measured_points(assignment: Assignment, campaign: Campaign) -> list[TimedPoint]:
    """The median times in a campaign of the assignment's study.

    The share is 0 where the intervals of the student's file and of the start overlap: noise earns no points.
    """
    cells = estimate_cells(campaign.raced).filter(
        pl.col("collective") == assignment.collective, pl.col("provider") == OWN, pl.col("median_us").is_not_null()
    )
    reference = Algorithm.parse(assignment.reference).name
    found = []
    for (ranks, size), rows in cells.group_by("ranks", "message_bytes", maintain_order=True):
        measured = {row["algorithm"]: row for row in rows.iter_rows(named=True)}
        if not {ALGORITHM, START, reference} <= measured.keys():
            continue
        mine, start, best = (measured[name] for name in (ALGORITHM, START, reference))
        point = TimedPoint.from_times(int(ranks), int(size), *(each["median_us"] for each in (mine, start, best)))
        faster = mine["ci_low_us"] is not None and mine["ci_high_us"] < start["ci_low_us"]
        found.append(point if faster or point.share is None else replace(point, share=0.0))
    return found


def grade_sheet(
    assignment: Assignment,
    verified: Verified,
    points: Sequence[TimedPoint],
    campaign: Campaign | None,
    todos: int,
    words: int,
) -> dict[str, Any]:
    """The grade sheet; without `campaign` the times are simulated.

    A wrong algorithm gets no points for its time. Where the reference is nowhere MIN_GAIN times as fast as the start,
    as on few cores, the time is not graded: its points are None and not in the maximum.
    """
    shares = [point.share for point in points if point.share is not None]
    right = verified.mistake is None
    time = round(TIME_POINTS * sum(shares) / len(shares)) if shares else None
    given = {
        "verified": VERIFIED_POINTS if right else 0,
        "time": time if right else 0,
        "report": REPORT_POINTS if words >= MIN_WORDS else 0,
    }
    return {
        "format": "timpani-grade-sheet",
        "version": 1,
        "timpani": __version__,
        "assignment": asdict(assignment),
        "verified": right,
        "cases": verified.cases,
        "mistake": verified.mistake,
        "counterexample": None if verified.drawing is None else str(verified.drawing),
        "todos": todos,
        "times_from": "simulation of an example machine" if campaign is None else str(campaign.folder),
        "simulated": campaign is None or campaign.simulated,
        "oversubscribed": campaign is not None and bool(campaign.results["oversubscribed"].any()),
        "times": [asdict(point) for point in points],
        "discussion_words": words,
        "points": given,
        "total": sum(filter(None, given.values())),
        "of": VERIFIED_POINTS + REPORT_POINTS + (0 if given["time"] is None else TIME_POINTS),
    }
