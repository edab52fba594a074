"""The operations that can be measured and what is known of each: the rows of `native/collectives/operations.def`."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from timpani.native_sources import read_table, sources
from timpani.study.keys import OPERATORS

Kind = Literal["collective", "point-to-point", "transpose", "local"]

Quantity = Literal["time", "throughput", "rate"]
"""What a table shows of an operation: its time, bytes per time, or messages per time."""

_CHECKED = ConfigDict(strict=True, extra="forbid")


@dataclass(frozen=True, config=_CHECKED)
class Buffers:
    """The send, or the receive, buffers of a collective, in the words of `native/collectives/collective.hpp`.

    holders  the ranks whose buffer holds anything
    content  what such a buffer holds
    """

    holders: Literal["all", "root", "others"]
    content: Literal["nothing", "vector", "part", "block", "blocks", "pairs"]

    def bytes_in_one(self, message_bytes: int, ranks: int) -> int:
        """Bytes of one rank's buffer."""
        match self.content:
            case "nothing":
                return 0
            case "blocks" | "pairs":
                return message_bytes * ranks
            case "part":
                return message_bytes // ranks
            case "vector" | "block":
                return message_bytes

    def bytes_in_all(self, message_bytes: int, ranks: int) -> int:
        """Bytes of all ranks' buffers."""
        holders = {"all": ranks, "root": 1, "others": ranks - 1}[self.holders]
        return holders * self.bytes_in_one(message_bytes, ranks)


@dataclass(frozen=True, config=_CHECKED)
class Movement:
    """What a collective moves, in the words of `native/collectives/collective.hpp`.

    result  where an element of the receive buffer comes from
    counts  whether blocks may differ in size, and whether every rank knows all sizes or ranks have to exchange them
    """

    send: Buffers
    receive: Buffers
    result: Literal["none", "moved", "sum", "prefix", "prefix_before"]
    counts: Literal["equal", "known", "exchanged"]

    @property
    def rooted(self) -> bool:
        """Whether one rank is the root."""
        return "root" in (self.send.holders, self.receive.holders)


@dataclass(frozen=True, config=_CHECKED)
class OperationParameter:
    """A setting of an operation that is no collective: a whole number from `minimum` on."""

    name: str
    default_value: int
    minimum: int
    meaning: str


@dataclass(frozen=True, config=_CHECKED)
class Way:
    """One of several ways of doing an operation. A baseline does a part of the work: what the rest costs."""

    name: str
    min_ranks: int
    role: Literal["competitor", "baseline"]
    meaning: str


@dataclass(frozen=True, config=_CHECKED)
class Composition:
    """A way of composing a collective of the library's collectives.

    min_nodes, min_groups  that its ranks must be on
    """

    name: str
    alias: str
    min_nodes: int
    min_groups: int
    parameters: tuple[OperationParameter, ...]
    meaning: str


_REAL_OPERATORS = ("sum", "prod", "max", "min")
_REAL = ("float", "double")

_GOLDEN_RATIO = 0.618033988749895
"""Multiples of it, without their whole part, are spread evenly, however many there are (Kronecker sequence)."""


@dataclass(frozen=True, config=_CHECKED)
class CallArguments:
    """The arguments of one operation's calls.

    root      a rank, or ROTATING
    in_place  MPI_IN_PLACE on the ranks that MPI allows it on
    """

    datatype: str = "uint8"
    operator: str = "sum"
    root: int | str = 0
    in_place: bool = False

    def root_in(self, launch: int, ranks: int) -> int:
        """The root in a launch of `ranks` ranks; launches count from 1."""
        return self.root if isinstance(self.root, int) else int(ranks * ((launch - 1) * _GOLDEN_RATIO % 1))


def combines(operator: str, datatype: str) -> bool:
    """Whether MPI defines the operator for the datatype: logical and bitwise ones for whole numbers only."""
    return operator in _REAL_OPERATORS or (operator in OPERATORS and datatype not in _REAL)


@dataclass(frozen=True, config=_CHECKED)
class Operation:
    """A measurable operation.

    size_meaning    what `message_bytes` counts
    sized           False for a barrier
    moves_its_size  whether `message_bytes` over the time is a throughput: a train of messages carries many
    ways            of doing it, where there are several; else it has one, `default`
    compositions    of a collective: ways of composing it of the library's collectives
    movement        of a collective
    """

    name: str
    title: str
    kind: Kind
    size_meaning: str
    sized: bool
    moves_its_size: bool = False
    quantity: Quantity = "time"
    min_ranks: int = 1
    parameters: tuple[OperationParameter, ...] = ()
    ways: tuple[Way, ...] = ()
    compositions: tuple[Composition, ...] = ()
    movement: Movement | None = None

    @property
    def has_competitors(self) -> bool:
        """Whether algorithms or ways compete; messages between different ranks are different operations."""
        return self.kind in ("collective", "transpose")

    @property
    def reduces(self) -> bool:
        """Whether it is a collective that combines elements of several ranks."""
        return self.movement is not None and self.movement.result not in ("none", "moved")

    @property
    def takes(self) -> Mapping[str, bool]:
        """Which arguments its calls take, by their name in a study."""
        moved = self.movement
        two_buffers = moved is not None and moved.result != "none" and moved.receive.holders != "others"
        return {
            "operator": self.reduces,
            "root": moved is not None and moved.rooted,
            "in_place": two_buffers,
        }

    @property
    def baselines(self) -> frozenset[str]:
        """The ways that do a part of the work: no competitors."""
        return frozenset(way.name for way in self.ways if way.role == "baseline")


PLAIN_MESSAGE = "plain_message"
"""What transposes are compared with: the same bytes in one message, not transposed."""


def read_operations(text: str) -> dict[str, Operation]:
    """The operations that a table such as `operations.def` states, by name; ValueError for anything else."""
    rows = defaultdict[str, list[dict[str, Any]]](list)
    for row in read_table(text):
        rows[row.macro].append(dict(row.values))
    parameters = {values["name"]: OperationParameter(**values) for values in rows["PARAMETER"]}
    ways = defaultdict[str, list[Way]](list)
    for values in rows["WAY"]:
        ways[values.pop("operation")].append(Way(**values))
    compositions = defaultdict[str, list[Composition]](list)
    for values in rows["COMPOSED"]:
        collective, named = values.pop("collective"), _as_words(values.pop("parameters"))
        composition = Composition(parameters=tuple(parameters[name] for name in named), **values)
        compositions[collective].append(composition)
    found = [_collective(values, tuple(compositions[values["name"]])) for values in rows["COLLECTIVE"]]
    for values in rows["OPERATION"]:
        size, names = values.pop("size"), values.pop("parameters")
        found.append(
            Operation(
                kind=values.pop("kind").replace("_", "-"),
                sized=_SIZED[size],
                moves_its_size=size == "moved",
                quantity=values.pop("shown"),
                parameters=tuple(parameters[name] for name in _as_words(names)),
                ways=tuple(ways[values["name"]]),
                **values,
            )
        )
    return {operation.name: operation for operation in found}


_SIZED = {"none": False, "counted": True, "moved": True}


def _as_words(value: Any) -> tuple[str, ...]:
    """The words of a list, of which Python reads `(one)` as the word itself."""
    return (value,) if isinstance(value, str) else value


def _collective(values: Mapping[str, Any], compositions: tuple[Composition, ...]) -> Operation:
    movement = Movement(
        send=Buffers(values["senders"], values["sent"]),
        receive=Buffers(values["receivers"], values["received"]),
        result=values["result"],
        counts=values["counts"],
    )
    return Operation(
        name=values["name"],
        title=values["title"],
        kind="collective",
        size_meaning=values["size_meaning"],
        sized=movement.result != "none",
        compositions=compositions,
        movement=movement,
    )


OPERATIONS: dict[str, Operation] = read_operations(
    (sources() / "collectives" / "operations.def").read_text(encoding="utf-8")
)

COLLECTIVES: dict[str, Operation] = {
    name: operation for name, operation in OPERATIONS.items() if operation.kind == "collective"
}


def title_of(name: str) -> str:
    """`bcast` as `Broadcast`; a name that an import brought stays as it is."""
    return OPERATIONS[name].title if name in OPERATIONS else name


def is_sized(name: str) -> bool:
    """Whether a call of an operation has a message size; one that only an import knows has."""
    return name not in OPERATIONS or OPERATIONS[name].sized


def quantity_of(name: str) -> Quantity:
    """What an operation measures; one that only an import knows measures times."""
    return OPERATIONS[name].quantity if name in OPERATIONS else "time"


OSU_TITLES: dict[str, str] = {
    **{name: f"{collective.title} Latency" for name, collective in COLLECTIVES.items()},
    "alltoall": "All-to-All Personalized Exchange Latency",
    "alltoallv": "All-to-Allv Personalized Exchange Latency",
    "reduce_scatter": "Reduce_scatter Latency",
    "reduce_scatter_block": "Reduce_scatter_block Latency",
    "latency": "Latency",
    "bandwidth": "Bandwidth",
    "bidirectional": "Bi-Directional Bandwidth",
    "message_rate": "Multiple Bandwidth / Message Rate",
}
"""What stands before `Test` in OSU's first line, by Timpani's name of the operation."""
