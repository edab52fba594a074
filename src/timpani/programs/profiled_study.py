"""The study that measures what a program calls: its collectives, ranks and sizes, as far as they take time."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from timpani.errors import UserError
from timpani.programs.profile_lines import ProfilePart
from timpani.programs.profiled_points import (
    ProfiledPoint,
    in_place_share,
    main_root,
    profiled_points,
    why_not_measured,
)
from timpani.study.compose import split_algorithms
from timpani.study.counted import counted, per_cent
from timpani.study.keys import ROTATING
from timpani.study.operations import COLLECTIVES, CallArguments
from timpani.study.point_weights import PointKey, PointWeight, point_goals
from timpani.study.study import ALL, Study
from timpani.study.values import parse_share

MEASURED_SHARE = 0.99
"""Of the seconds that an algorithm can change: calls that take less together are not measured."""


@dataclass(frozen=True)
class ProfiledStudy:
    """The study of a profile, and what it leaves out, a sentence each."""

    study: Study
    points: tuple[ProfiledPoint, ...]
    left_out: tuple[str, ...]


def profiled_study(part: ProfilePart, options: Mapping[str, Any]) -> ProfiledStudy:
    """The study of what `part` calls, with `options` in place of its keys; UserError where nothing is to measure.

    A race measures the points that are worth it (`study/point_weights.py`). Other studies measure points until they
    have MEASURED_SHARE of the seconds that an algorithm can change, and every collective on each of its rank counts.
    """
    points = profiled_points(part)
    if not sum(point.seconds for point in points):
        why = "".join(f"; {reason}" for reason in left_out(part, []))
        raise UserError(
            f"{part.path.parent} holds no collective that could be measured{why}",
            "profile a program that calls some, with `timpani profile`",
        )
    given = {name: value for name, value in options.items() if value is not None}
    weighted = "regret" in given and not given.keys() & {"ranks", "sizes"}
    weights = _weights(part, points) if weighted else ()
    chosen = _worth_racing(points, weights, given["regret"]) if weighted else _most_of_time(points)
    algorithms = split_algorithms(given.pop("algorithms")) if "algorithms" in given else (ALL,)
    names = sorted({point.collective for point in chosen})
    overrides = {name: _override([point for point in chosen if point.collective == name], given) for name in names}
    values = {
        "title": f"What {' : '.join(part.programs)} calls",
        "collectives": dict.fromkeys(names, algorithms),
        "ranks": tuple({point.ranks for point in chosen}),
        "sizes": tuple({point.message_bytes for point in chosen}),
        "overrides": {name: each for name, each in overrides.items() if each},
        "placement": _placement(chosen),
        "weights": weights,
        **given,
    }
    return ProfiledStudy(Study.check(values, str(part.path.parent)), tuple(chosen), tuple(left_out(part, chosen)))


def _override(points: list[ProfiledPoint], given: Mapping[str, Any]) -> dict[str, Any]:
    """What the study says of one collective; of its arguments those that are not a study's initial ones."""
    measured, initial = asdict(points[0].arguments), asdict(CallArguments())
    own = {name: value for name, value in measured.items() if name == "datatype" or value != initial[name]}
    own["sizes"] = tuple({point.message_bytes for point in points})
    return {name: value for name, value in own.items() if name not in given}


def _most_of_time(points: list[ProfiledPoint]) -> list[ProfiledPoint]:
    """The points with most time that together have MEASURED_SHARE of it."""
    total, chosen = sum(point.seconds for point in points), list[ProfiledPoint]()
    for point in points:
        if sum(each.seconds for each in chosen) >= MEASURED_SHARE * total:
            break
        chosen.append(point)
    return chosen


def _worth_racing(points: list[ProfiledPoint], weights: tuple[PointWeight, ...], regret: object) -> list[ProfiledPoint]:
    """The points of a race for the program; all of them where `Study.check` will refuse the regret."""
    accepted = parse_share(regret)
    goals = point_goals(weights, accepted) if isinstance(accepted, float) else {}
    return [point for point in points if _key(point) in goals] or points


def _weights(part: ProfilePart, points: list[ProfiledPoint]) -> tuple[PointWeight, ...]:
    """The points' times as shares of the program's time in MPI."""
    seconds: dict[PointKey, float] = defaultdict(float)
    for point in points:
        seconds[_key(point)] += point.seconds
    in_mpi = seconds_in_mpi(part)
    return tuple(
        PointWeight(collective=name, ranks=ranks, message_bytes=size, share=spent / in_mpi)
        for (name, ranks, size), spent in seconds.items()
        if spent
    )


def seconds_in_mpi(part: ProfilePart) -> float:
    """Seconds of a rank in the program's calls of MPI, waiting included."""
    return part.per_rank(sum(line.ns for line in part.calls if line.form != "setup"))


def _key(point: ProfiledPoint) -> PointKey:
    return point.collective, point.ranks, point.message_bytes


def _placement(points: list[ProfiledPoint]) -> str:
    """As most of the time is spent: ranks packed onto one node, or the main communicator's number on each."""
    main = points[0]
    return "core" if main.nodes == 1 else f"ppr:{main.per_node}"


def left_out(part: ProfilePart, chosen: list[ProfiledPoint]) -> list[str]:
    """What a study of the points `chosen` leaves out or measures in another way, a sentence each."""
    collectives = sum(line.ns for line in part.calls if line.form == "blocking")
    reasons: dict[str, int] = defaultdict(int)
    for line in part.calls:
        if line.form == "blocking" and line.ns and (why := why_not_measured(line)):
            reasons[why] += line.ns
    sentences = [f"{per_cent(ns / collectives)} of the time in collectives: {why}" for why, ns in reasons.items()]
    rest = [point for point in profiled_points(part) if point not in chosen]
    if rest:
        calls = counted(round(sum(point.calls for point in rest)), "call")
        sentences.append(f"{calls} with {sum(point.seconds for point in rest):.3g} s together")
    return [*sentences, *_measuring_differences(part, chosen)]


def _measuring_differences(part: ProfilePart, chosen: list[ProfiledPoint]) -> Iterator[str]:
    """In what the measured calls differ from the program's, a sentence each."""
    measured = {point.collective: point.arguments for point in reversed(chosen)}
    lines = [line for line in part.calls if line.form == "blocking" and line.name in measured]
    operators = {(line.name, line.operator) for line in lines if line.operator}
    for name, operator in sorted(operators):
        if operator != measured[name].operator:
            yield f"{name} with operator {operator}: measured with {measured[name].operator}"
    for name, arguments in measured.items():
        of_collective = [line for line in lines if line.name == name and line.ranks > 1]
        if COLLECTIVES[name].takes["in_place"] and (other := in_place_share(of_collective, not arguments.in_place)):
            how = ("two buffers", "MPI_IN_PLACE")
            yield (
                f"{name} with {how[not arguments.in_place]}, {per_cent(other)} of its calls: measured with "
                f"{how[arguments.in_place]}"
            )
        if arguments.root != ROTATING and (others := 1 - main_root(of_collective)[1]):
            yield f"{name} with other roots, {per_cent(others)} of its calls: measured with root {arguments.root}"
