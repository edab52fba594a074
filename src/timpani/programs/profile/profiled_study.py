"""The study that measures what a program calls: its collectives, ranks and sizes, as far as they take time."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import Any

from timpani.errors import UserError
from timpani.programs.profile.profile_lines import CallsLine, ProfilePart
from timpani.programs.profile.profiled_points import (
    BUFFERS,
    DERIVED,
    ProfiledPoint,
    in_place_share,
    main_root,
    profiled_points,
    why_not_measured,
)
from timpani.study.cell import split_algorithms
from timpani.study.keys import ROTATING
from timpani.study.operations import COLLECTIVES, CallArguments
from timpani.study.point_weights import PointKey, PointWeight, point_goals
from timpani.study.study import ALL, Study
from timpani.study.values import parse_share
from timpani.study.words import counted, per_cent

MEASURED_SHARE = 0.99
"""Of the seconds that an algorithm can change: calls that take less together are not measured."""


@dataclass(frozen=True)
class ProfiledStudy:
    """The study of a profile, and what it leaves out, a sentence each."""

    study: Study
    points: tuple[ProfiledPoint, ...]
    left_out: tuple[str, ...]


def profiled_study(
    part: ProfilePart, options: Mapping[str, Any], covered: Collection[ProfiledPoint] = ()
) -> ProfiledStudy:
    """The study of what `part` calls, with `options` in place of its keys; UserError where nothing is to measure.

    covered  points that are measured already, and left out

    A race measures the points that are worth it (`study/point_weights.py`). Other studies measure points until they
    have MEASURED_SHARE of the seconds that an algorithm can change. Where `options` name ranks, sizes or several
    placements, all combinations of these are measured, with equal weight.
    """
    given = {name: value for name, value in options.items() if value is not None}
    points = [point for point in profiled_points(part) if point not in covered]
    if not sum(point.seconds for point in points):
        raise _nothing_to_measure(part, bool(covered))
    placements = [each.strip() for each in str(given.get("placement", "")).split(",")]
    combined = len(placements) > 1 or bool(given.keys() & {"ranks", "sizes"})
    if placements[0] or combined:  # one for all
        points = [replace(point, placement=placements[0] or points[0].placement) for point in points]
    weights = _weights(part, points)
    raced = "regret" in given and not combined
    chosen = _worth_racing(points, weights, given["regret"]) if raced else _most_of_time(points)
    algorithms = split_algorithms(given.pop("algorithms")) if "algorithms" in given else (ALL,)
    names = sorted({point.collective for point in chosen})
    overrides = {name: _override([point for point in chosen if point.collective == name], given) for name in names}
    wanted = {_key(point) for point in chosen}
    values = {
        "title": f"What {' : '.join(part.programs)} calls",
        "collectives": dict.fromkeys(names, algorithms),
        "ranks": tuple({point.ranks for point in chosen}),
        "sizes": tuple({point.message_bytes for point in chosen}),
        "overrides": {name: each for name, each in overrides.items() if each},
        "placement": tuple(dict.fromkeys(point.placement for point in chosen)),
        "weights": () if combined else tuple(each for each in weights if raced or each.key in wanted),
        **given,
    }
    study = Study.check(values, str(part.path.parent))
    measured = {name: study.arguments_of(name) for name in study.collectives}
    return ProfiledStudy(study, tuple(chosen), tuple(left_out(part, [*chosen, *covered], measured)))


def _nothing_to_measure(part: ProfilePart, covered: bool) -> UserError:
    folder = part.path.parent
    if covered:
        return UserError(f"the campaigns cover all calls of {folder} that can be measured", "leave out --covered-by")
    why = "".join(f"; {reason}" for reason in left_out(part, [], {}))
    return UserError(
        f"{folder} holds no collective that could be measured{why}",
        "profile a program that calls some, with `timpani profile`",
    )


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
        PointWeight(collective=name, ranks=ranks, placement=placement, message_bytes=size, share=spent / in_mpi)
        for (name, ranks, placement, size), spent in seconds.items()
        if spent
    )


def seconds_in_mpi(part: ProfilePart) -> float:
    """Seconds of a rank in the program's calls of MPI, waiting included."""
    return part.per_rank(sum(line.ns for line in part.calls if line.form != "setup"))


def _key(point: ProfiledPoint) -> PointKey:
    return point.collective, point.ranks, point.placement, point.message_bytes


def left_out(part: ProfilePart, chosen: Collection[ProfiledPoint], measured: Mapping[str, CallArguments]) -> list[str]:
    """What a study of the points `chosen` leaves out or measures in another way, a sentence each.

    measured  the arguments of each collective in the study
    """
    collectives = sum(line.ns for line in part.calls if line.form == "blocking")
    reasons: dict[str, int] = defaultdict(int)
    for line in part.calls:
        if line.form == "blocking" and line.ns and (why := why_not_measured(line)):
            reasons[why] += line.ns
    sentences = [f"{per_cent(ns / collectives)} of the time in collectives: {why}" for why, ns in reasons.items()]
    known = {_point_of_program(point) for point in chosen}
    rest = [point for point in profiled_points(part) if _point_of_program(point) not in known]
    if rest:
        calls = counted(round(sum(point.calls for point in rest)), "call")
        sentences.append(f"{calls} with {sum(point.seconds for point in rest):.3g} s together are not measured")
    return [*sentences, *_placing_differences(chosen), *_passing_differences(part, measured)]


def _point_of_program(point: ProfiledPoint) -> tuple[object, ...]:
    """What distinguishes a point wherever it is measured."""
    return point.collective, point.ranks, point.nodes, point.per_node, point.message_bytes


def _placing_differences(chosen: Collection[ProfiledPoint]) -> Iterator[str]:
    """The layouts of ranks that are measured on other nodes than the program's, a sentence each."""
    spent: dict[tuple[int, int, int, str], float] = defaultdict(float)
    for point in chosen:
        spent[point.ranks, point.nodes, point.per_node, point.placement] += point.seconds
    for (ranks, nodes, per_node, placement), seconds in spent.items():
        packed = placement == "core" and nodes == 1
        spread = placement == f"ppr:{per_node}" and nodes == ceil(ranks / per_node)
        if not packed and not spread:
            yield (
                f"{counted(ranks, 'rank')} on {counted(nodes, 'node')}, at most {per_node} on one, with {seconds:.3g} "
                f"s: placed by {placement}"
            )


def _passing_differences(part: ProfilePart, measured: Mapping[str, CallArguments]) -> Iterator[str]:
    """In what the arguments of measured calls differ from the program's, a sentence each."""
    lines = [line for line in part.calls if line.form == "blocking" and line.name in measured and line.ranks > 1]
    for name, arguments in measured.items():
        of_collective = [line for line in lines if line.name == name]
        takes = COLLECTIVES[name].takes
        if takes["operator"]:
            for operator, share in _shares((line.operator, line.calls) for line in of_collective):
                if operator != arguments.operator:
                    yield f"{name} with operator {operator}, {share} of its calls: measured with {arguments.operator}"
        for datatype, share in _shares((line.datatype, line.calls) for line in of_collective):
            if takes["operator"] and datatype != arguments.datatype:
                yield f"{name} of {datatype}, {share} of its calls: measured with {arguments.datatype}"
            elif datatype == DERIVED:
                yield f"{name} of derived datatypes, {share} of its calls: measured with {arguments.datatype}"
        yield from _buffer_and_root_differences(name, arguments, of_collective)


def _buffer_and_root_differences(name: str, arguments: CallArguments, lines: list[CallsLine]) -> Iterator[str]:
    if COLLECTIVES[name].takes["in_place"] and (other := in_place_share(lines, not arguments.in_place)):
        yield (
            f"{name} with {BUFFERS[not arguments.in_place]}, {per_cent(other)} of its calls: measured with "
            f"{BUFFERS[arguments.in_place]}"
        )
    if arguments.root != ROTATING and (others := 1 - main_root(lines)[1]):
        yield f"{name} with other roots, {per_cent(others)} of its calls: measured with root {arguments.root}"


def _shares(calls: Iterable[tuple[str, int]]) -> Iterator[tuple[str, str]]:
    """Each value with the share of the calls that have it."""
    found: dict[str, int] = defaultdict(int)
    for value, count in calls:
        found[value] += count
    for value, count in sorted(found.items()):
        yield value, per_cent(count / sum(found.values()))
