"""The study that measures what a program calls: its collectives, ranks and sizes, as far as they take time."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from timpani.errors import UserError
from timpani.programs.profile_lines import CallsLine, ProfilePart
from timpani.study.compose import split_algorithms
from timpani.study.counted import counted, per_cent
from timpani.study.keys import DATATYPES, OPERATORS
from timpani.study.operations import COLLECTIVES
from timpani.study.point_weights import PointKey, PointWeight, point_goals
from timpani.study.study import ALL, Study
from timpani.study.values import parse_share

MEASURED_SHARE = 0.99
"""Of the seconds that an algorithm can change: calls that take less together are not measured."""

_BYTES = {"int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "float": 4} | {
    "int64": 8,
    "uint64": 8,
    "double": 8,
    "complex": 8,
    "double_complex": 16,
    "long_double": 16,
}


@dataclass(frozen=True)
class ProfiledPoint:
    """Calls of a program that one point of a study stands for.

    message_bytes  their mean, in whole elements of `datatype`
    operator       of the calls that take longest, where it can be measured; else "sum"
    seconds        of a rank, without those that it is known to have waited for late ranks
    """

    collective: str
    ranks: int
    nodes: int
    per_node: int
    message_bytes: int
    datatype: str
    operator: str
    seconds: float
    calls: float

    @property
    def size_class(self) -> int:
        """Bits of the message's bytes."""
        return self.message_bytes.bit_length()


@dataclass(frozen=True)
class ProfiledStudy:
    """The study of a profile, and what it leaves out, a sentence each."""

    study: Study
    points: tuple[ProfiledPoint, ...]
    left_out: tuple[str, ...]


def why_not_measured(line: CallsLine) -> str | None:
    """Why a blocking collective can't be measured as the program calls it; None where it can."""
    if line.algorithm:
        return "replaced by an algorithm of Timpani's"
    if line.name not in COLLECTIVES:
        return "not among the collectives that Timpani measures"
    if line.between_groups:
        return "between two groups"
    if line.ranks < 2:
        return "of one rank"
    if line.nodes == 0:
        return "with ranks of other programs, or without Timpani's library"
    return None


def changeable_seconds(part: ProfilePart, line: CallsLine) -> float:
    """Seconds of a rank in these calls without those that it is known to have waited for late ranks."""
    return part.per_rank(max(0.0, line.ns - line.waiting_ns))


def profiled_points(part: ProfilePart) -> list[ProfiledPoint]:
    """What an algorithm could change, those points first that take longest.

    A study has one datatype for each collective: that of its longest point.
    """
    found: dict[tuple[str, int, int, int, int], list[CallsLine]] = defaultdict(list)
    for line in part.calls:
        if line.form == "blocking" and why_not_measured(line) is None:
            found[line.name, line.ranks, line.nodes, line.per_node, _mean_bytes(line).bit_length()].append(line)
    points = sorted((_point(part, lines) for lines in found.values()), key=lambda point: -point.seconds)
    datatypes = {point.collective: point.datatype for point in reversed(points)}
    return [_of_type(point, datatypes[point.collective]) for point in points]


def _of_type(point: ProfiledPoint, datatype: str) -> ProfiledPoint:
    """The point in whole elements of `datatype`: at least one, unless its calls have no bytes."""
    element = DATATYPES[datatype]
    elements = max(point.message_bytes // element, min(point.message_bytes, 1))
    return replace(point, datatype=datatype, message_bytes=elements * element)


def _mean_bytes(line: CallsLine) -> int:
    return line.bytes // line.calls


def _point(part: ProfilePart, lines: list[CallsLine]) -> ProfiledPoint:
    main = max(lines, key=lambda line: line.ns)
    mean = sum(line.bytes for line in lines) // sum(line.calls for line in lines)
    return ProfiledPoint(
        collective=main.name,
        ranks=main.ranks,
        nodes=main.nodes,
        per_node=main.per_node,
        message_bytes=mean,
        datatype=_measured_datatype(main),
        operator=main.operator if main.operator in OPERATORS else "sum",
        seconds=sum(changeable_seconds(part, line) for line in lines),
        calls=sum(part.calls_of(line) for line in lines),
    )


def _measured_datatype(line: CallsLine) -> str:
    """The program's where a study has it, or one of as many bytes; bytes where nothing is reduced."""
    if not line.operator:
        return "uint8"
    if line.datatype in DATATYPES:
        return line.datatype
    return {1: "uint8", 4: "int32"}.get(_BYTES.get(line.datatype, 8), "double")


def profiled_study(part: ProfilePart, options: Mapping[str, Any]) -> ProfiledStudy:
    """The study of what `part` calls, with `options` in place of its keys; UserError where nothing is to measure.

    A race measures the points that are worth it (`study/point_weights.py`). Other studies measure points until they
    have MEASURED_SHARE of the seconds that an algorithm can change, and every collective on each of its rank counts.
    """
    points = profiled_points(part)
    if not sum(point.seconds for point in points):
        raise UserError(
            f"{part.path.parent} holds no collective that could be measured", "profile a program that calls some"
        )
    given = {name: value for name, value in options.items() if value is not None}
    weighted = "regret" in given and not given.keys() & {"ranks", "sizes"}
    weights = _weights(part, points) if weighted else ()
    chosen = _worth_racing(points, weights, given["regret"]) if weighted else _most_of_time(points)
    algorithms = split_algorithms(given.pop("algorithms")) if "algorithms" in given else (ALL,)
    names = sorted({point.collective for point in chosen})
    overrides: dict[str, dict[str, Any]] = {}
    for name in names:
        ours = [point for point in chosen if point.collective == name]
        sizes = tuple({point.message_bytes for point in ours})
        of_name: dict[str, Any] = {"datatype": ours[0].datatype, "sizes": sizes}
        if ours[0].operator != "sum":
            of_name["operator"] = ours[0].operator
        overrides[name] = {key: value for key, value in of_name.items() if key not in given}
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
        if line.form == "blocking" and (why := why_not_measured(line)):
            reasons[why] += line.ns
    told = [f"{per_cent(ns / collectives)} of the time in collectives: {why}" for why, ns in reasons.items()]
    rest = [point for point in profiled_points(part) if point not in chosen]
    if rest:
        calls = counted(round(sum(point.calls for point in rest)), "call")
        told.append(f"{calls} with {sum(point.seconds for point in rest):.3g} s together")
    return [*told, *_measured_otherwise(part, chosen)]


def _measured_otherwise(part: ProfilePart, chosen: list[ProfiledPoint]) -> Iterator[str]:
    """In what the measured calls differ from the program's, a sentence each."""
    measured = {point.collective: point.operator for point in reversed(chosen)}
    lines = [line for line in part.calls if line.form == "blocking" and line.name in measured]
    others = {(line.name, line.operator) for line in lines if line.operator not in ("", measured[line.name])}
    for name, operator in sorted(others):
        yield f"{name} with operator {operator}: measured with {measured[name]}"
    if any(line.in_place for line in lines):
        yield "calls in place: measured with two buffers"
    if rooted := sorted({line.name for line in lines if line.root_share}):
        yield f"roots of {', '.join(rooted)}: rank 0 is the root, since a profile does not hold which rank is"
