"""What a program calls, as points that a study can measure: sizes, arguments, and the time that they take."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from timpani.errors import UserError
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi
from timpani.programs.profile.profile_lines import FURTHER_KINDS, CallsLine, ProfilePart, SentLine
from timpani.study.keys import DATATYPES, ROTATING
from timpani.study.operations import COLLECTIVES, CallArguments, combines

MAIN_ROOT_SHARE = 0.9
"""Calls of which at least this share has one root are measured with that root, others with a rotating root."""

DERIVED = "derived"
"""The class of the program's datatypes."""

BUFFERS = {False: "two buffers", True: "MPI_IN_PLACE"}

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

    placement      as the program has it: packed onto one node, or the most ranks of a node on each
    message_bytes  in whole elements of the datatype. Calls of one size class whose sizes differ are two points, the
                   smallest and the largest size. They share the calls and seconds, and have the calls' mean size
    arguments      with which a study measures the collective: those of its longest point
    called_with    what most of the time in these calls is spent with: datatype and operator as the profile names them
    seconds        of a rank, without those that it is known to have waited for late ranks
    """

    collective: str
    ranks: int
    nodes: int
    per_node: int
    placement: str
    message_bytes: int
    arguments: CallArguments
    called_with: CallArguments
    seconds: float
    calls: float

    @property
    def size_class(self) -> int:
        """Bits of the message's bytes."""
        return self.message_bytes.bit_length()


def why_not_measured(line: CallsLine) -> str | None:
    """Why a blocking collective can't be measured as the program calls it; None where it can."""
    if line.algorithm:
        return "run by the algorithm that a rule names"
    if line.name == FURTHER_KINDS:
        return "of more kinds than a profile distinguishes"
    if line.name not in COLLECTIVES:
        return "not among the collectives that Timpani measures"
    if line.between_groups:
        return "between two groups"
    if not line.ranks:
        return "on communicators that the profile does not show"
    if line.ranks < 2:
        return "of one rank"
    if not line.datatype and COLLECTIVES[line.name].sized:
        return "of a datatype that the profile does not show"
    if line.nodes == 0:
        return "with ranks of other programs, or without Timpani's library"
    return None


def changeable_seconds(part: ProfilePart, line: CallsLine) -> float:
    """Seconds of a rank in these calls without those that it is known to have waited for late ranks."""
    return part.per_rank(max(0.0, line.ns - line.waiting_ns))


def profiled_points(part: ProfilePart) -> list[ProfiledPoint]:
    """What an algorithm could change, those points first that take longest.

    A study has one set of arguments for each collective: that of its longest point.
    """
    found: dict[tuple[str, int, int, int, int], list[CallsLine]] = defaultdict(list)
    for line in part.calls:
        if line.form == "blocking" and why_not_measured(line) is None:
            found[line.name, line.ranks, line.nodes, line.per_node, _mean_bytes([line]).bit_length()].append(line)
    points = sorted((_point(part, lines) for lines in found.values()), key=lambda pair: -pair[0].seconds)
    arguments = {point.collective: point.arguments for point, _ in reversed(points)}
    ends = [
        each
        for point, (smallest, largest) in points
        for each in _at_ends(replace(point, arguments=arguments[point.collective]), smallest, largest)
    ]
    return sorted(ends, key=lambda point: -point.seconds)


def _at_ends(point: ProfiledPoint, smallest: int, largest: int) -> Iterator[ProfiledPoint]:
    """The points of calls of `smallest` to `largest` bytes with the mean size of `point`."""
    element = DATATYPES[point.arguments.datatype]
    low, mean, high = (_whole_elements(each, element) for each in (smallest, point.message_bytes, largest))
    share = (mean - low) / (high - low) if high > low else 0.0
    for size, part in ((low, 1 - share), (high, share)):
        if part:
            yield replace(point, message_bytes=size, seconds=part * point.seconds, calls=part * point.calls)


def _whole_elements(size: int, element: int) -> int:
    """The bytes of whole elements: of at least one, unless there are no bytes."""
    return max(size // element, min(size, 1)) * element


def differing_arguments(collective: str, called: CallArguments, measured: CallArguments) -> list[str]:
    """What a measurement of a collective passes in place of the program's arguments: `operator sum, not max`."""
    takes = COLLECTIVES[collective].takes
    found = []
    if takes["operator"] and measured.datatype != called.datatype:
        found.append(f"{measured.datatype}, not {called.datatype}")
    elif called.datatype == DERIVED:
        found.append(f"{measured.datatype}, not a derived datatype")
    if takes["operator"] and measured.operator != called.operator:
        found.append(f"{measured.operator}, not {called.operator}")
    if takes["root"] and measured.root != called.root:
        found.append(f"root {measured.root}, not {called.root}")
    if takes["in_place"] and measured.in_place != called.in_place:
        found.append(f"{BUFFERS[measured.in_place]}, not {BUFFERS[called.in_place]}")
    return found


def _mean_bytes(lines: Iterable[CallsLine]) -> int:
    return sum(line.bytes for line in lines) // sum(line.calls for line in lines)


def _point(part: ProfilePart, lines: Sequence[CallsLine]) -> tuple[ProfiledPoint, tuple[int, int]]:
    """The point of the calls' mean size, and their smallest and largest size."""
    main = max(lines, key=lambda line: line.ns)
    mean, called_with = _mean_bytes(lines), _arguments(main, lines)
    point = ProfiledPoint(
        collective=main.name,
        ranks=main.ranks,
        nodes=main.nodes,
        per_node=main.per_node,
        placement="core" if main.nodes == 1 else f"ppr:{main.per_node}",
        message_bytes=mean,
        arguments=_measured_arguments(called_with),
        called_with=called_with,
        seconds=sum(changeable_seconds(part, line) for line in lines),
        calls=sum(part.calls_of(line) for line in lines),
    )
    # Of a v-collective whose ranks know their own blocks only, the sizes are those of blocks, not of calls.
    sized = [line for line in lines if line.size_class >= 0]
    sizes = [size for line in sized for size in (line.smallest_bytes, line.largest_bytes)]
    return point, (min([*sizes, mean]), max([*sizes, mean]))


def _arguments(main: CallsLine, lines: Sequence[CallsLine]) -> CallArguments:
    root, share = main_root(lines)
    return CallArguments(
        datatype=main.datatype,
        operator=main.operator,
        root=root if share >= MAIN_ROOT_SHARE else ROTATING,
        in_place=in_place_share(lines, True) > 0.5,
    )


def _measured_arguments(called_with: CallArguments) -> CallArguments:
    """The arguments as far as a study has them: sum in place of operators that it lacks."""
    datatype = _measured_datatype(called_with)
    operator = called_with.operator if combines(called_with.operator, datatype) else "sum"
    return replace(called_with, datatype=datatype, operator=operator)


def main_root(lines: Iterable[CallsLine]) -> tuple[int, float]:
    """The rank that is the root most often, and its share of the calls; 0 and 1 where no root is known."""
    calls = Counter[int]()
    rooted = 0
    for line in lines:
        calls[line.root] += line.root_calls
        rooted += line.rooted_calls
    [(root, most)] = calls.most_common(1) or [(0, 0)]
    return (root, most / rooted) if rooted else (0, 1.0)


def in_place_share(lines: Iterable[CallsLine], in_place: bool) -> float:
    """The share of the calls that are in place, or are not: of collectives with a root, of the root's calls."""
    calls = {True: 0, False: 0}
    for line in lines:
        calls[line.in_place] += line.rooted_calls if COLLECTIVES[line.name].takes["root"] else line.calls
    return calls[in_place] / sum(calls.values()) if any(calls.values()) else 0.0


def _measured_datatype(called_with: CallArguments) -> str:
    """The program's where a study has it, or one of as many bytes; bytes where nothing is reduced."""
    if not called_with.operator:
        return "uint8"
    if called_with.datatype in DATATYPES:
        return called_with.datatype
    return {1: "uint8", 4: "int32"}.get(_BYTES.get(called_with.datatype, 8), "double")


Matrix = tuple[tuple[int, ...], ...]
"""Row = sender, column = receiver."""


@dataclass(frozen=True)
class ProvenCall:
    """One call of a collective, size class and list of ranks.

    message_bytes    of that call; element_bytes of its datatype
    messages, bytes  ranks are counted from the root on, so that the root is rank 0
    """

    collective: str
    ranks: int
    size_class: int
    message_bytes: int
    element_bytes: int
    messages: Matrix
    bytes: Matrix

    @property
    def sent(self) -> int:
        """All messages."""
        return sum(map(sum, self.messages))


def proven_calls(part: ProfilePart) -> list[ProvenCall]:
    """The calls whose messages are known of all ranks."""
    strata: dict[str, list[SentLine]] = defaultdict(list)
    for line in part.sent:
        strata[line.stratum].append(line)
    found = [_proven_call(lines) for lines in strata.values() if len(lines) == lines[0].ranks]
    return sorted(filter(None, found), key=lambda call: (call.collective, call.ranks, call.message_bytes))


def _proven_call(lines: Sequence[SentLine]) -> ProvenCall | None:
    """The call of all its ranks' lines; None where they are not of one call, or a rank sent beyond its communicator."""
    first, ranks = lines[0], len(lines)
    if len({(line.bytes, line.root) for line in lines}) > 1:
        return None
    place = {line.rank: (line.comm_rank - first.root) % ranks for line in lines}
    messages = [[0] * ranks for _ in range(ranks)]
    sent_bytes = [[0] * ranks for _ in range(ranks)]
    for line in lines:
        for peer, count, size in line.sent:
            if peer not in place:
                return None
            messages[place[line.rank]][place[peer]] += count
            sent_bytes[place[line.rank]][place[peer]] += size
    return ProvenCall(
        first.name,
        ranks,
        first.size_class,
        first.bytes,
        first.element_bytes,
        tuple(map(tuple, messages)),
        tuple(map(tuple, sent_bytes)),
    )


def proving_variables(library: Mpi) -> dict[str, str]:
    """What makes the library and Timpani count the messages of a program; UserError where the library can't."""
    known = LIBRARIES[library.kind]
    counting = known.algorithms.counting(library) if known.algorithms.counting else None
    if counting is None:
        raise UserError(
            f"{library} can't count messages", "profile without --prove; Open MPI's monitoring component can count"
        )
    return {"TIMPANI_PROVE": "1"} | {known.launcher.variable(name): value for name, value in counting.parameters}
