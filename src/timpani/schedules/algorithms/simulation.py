"""Simulates Timpani's schedules: when each message is sent (native/simulate)."""

import json
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from enum import IntEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import polars as pl

from timpani.errors import AlgorithmError, UserError
from timpani.native.children import crash
from timpani.study.cell import Algorithm


@dataclass(frozen=True)
class CostLine:
    """Cost of a message of n bytes, from `first_bytes` on.

    gap + per_byte · n occupies the sender's and the receiver's port; latency + latency_per_byte · n follows, during
    which both ports may serve other messages.
    """

    first_bytes: int = 0
    gap: float = 0.0
    per_byte: float = 0.0
    latency: float = 0.0
    latency_per_byte: float = 0.0


class Relation(IntEnum):
    """How close two ranks are, the closest first: the smallest part of a machine known to contain both."""

    cache = 0
    socket = 1
    node = 2
    group = 3
    groups = 4


NO_BURST = (0.0, 0.0, 0.0)

Messages = tuple[tuple[CostLine, ...], ...]
"""Lines by ascending first_bytes, for each Relation. A relation without lines uses those of the next closer relation
that has some, else of the next farther one."""

NO_CLOSER_LINES: Messages = ((), ())
"""Prefix of Messages if the costs within a node also hold within a cache and a socket."""


@dataclass(frozen=True)
class Costs:
    """Costs of a call, in any one unit of time. The default is the unit clock: a message takes one tick.

    overhead  of a rank, for each message that it sends
    reduced   per reduced byte
    copied    per copied byte
    eager     per byte sent eagerly, which the sender copies first
    rest      of a call, beyond its schedule
    idle      how long shared links with a burst have been idle when a call begins
    shared    per byte on each shared link: a socket's memory (a node's if sockets are unknown) within a node and, if
              `fair`, between nodes; a node's link, in each direction; a group's uplink, in each direction. 0 means no
              limit
    burst     bytes that pass such a link at once after idle time, as with a token bucket; not with `fair`
    eager_below  messages of fewer bytes are sent before their receiver waits for them
    fair      concurrent messages share ports and links fairly; otherwise one passes after the other
    messages  of each message; ranks at unknown distance pay those within a node
    """

    overhead: float = 0.0
    reduced: float = 0.0
    copied: float = 0.0
    eager: float = 0.0
    rest: float = 0.0
    idle: float = 0.0
    shared: tuple[float, ...] = (0.0, 0.0, 0.0)
    burst: tuple[float, ...] = NO_BURST
    eager_below: int = 0
    fair: bool = False
    messages: Messages = ((CostLine(gap=1.0),),)


UNIT_CLOCK = Costs()


def relation_with_costs(messages: Messages, relation: Relation) -> Relation:
    """The relation whose lines are used between ranks of this relation."""
    known = [each for each in Relation if messages[each : each + 1] not in ((), ((),))]
    return max((each for each in known if each <= relation), default=min(known))


@dataclass(frozen=True)
class RankPlace:
    """The node and the node's group of a rank, and within the node its socket and last-level cache, by number; None if
    unknown. If the cache is known, so is the socket."""

    node: int
    group: int = 0
    socket: int | None = None
    cache: int | None = None


@dataclass(frozen=True)
class NodeParts:
    """A node's cores, divided equally among sockets and among last-level caches; no cache spans two sockets.

    caches  None if unknown
    by      core: ranks fill consecutive cores; socket: ranks alternate between sockets
    """

    cores: int
    sockets: int = 1
    caches: int | None = None
    by: Literal["core", "socket"] = "core"

    def seat(self, place: int) -> tuple[int, int | None]:
        """The socket and the cache of the rank at index `place` within the node."""
        each = self.cores // self.sockets
        core = place if self.by == "core" else place % self.sockets * each + place // self.sockets
        return core // each, core // (self.cores // self.caches) if self.caches else None


@dataclass(frozen=True)
class EqualNodes:
    """Ranks over nodes and nodes over groups, as evenly as possible.

    by     core: ranks fill one node after the other; node: consecutive ranks are on consecutive nodes
    parts  of each node; None if its sockets are unknown
    """

    nodes: int
    groups: int = 1
    by: Literal["core", "node"] = "core"
    parts: NodeParts | None = None

    def place(self, rank: int, ranks: int) -> RankPlace:
        """The place of one of `ranks` ranks, like Topology::even of native/collectives."""
        if self.by == "node":
            node, number = rank % self.nodes, rank // self.nodes
        else:
            node = rank * self.nodes // ranks
            number = rank - -(-node * ranks // self.nodes)
        seat = self.parts.seat(number) if self.parts else ()
        return RankPlace(node, node * self.groups // self.nodes, *seat)

    def relations(self, ranks: int) -> set[Relation]:
        """All relations between pairs of `ranks` ranks."""
        seats = (self.parts.seat(number) if self.parts else () for number in range(-(-ranks // self.nodes)))
        within = relations_among(RankPlace(0, 0, *seat) for seat in seats)
        across = {Relation.group: self.nodes > self.groups, Relation.groups: self.groups > 1}
        return within | {relation for relation, there in across.items() if there}


def relations_among(places: Iterable[RankPlace]) -> set[Relation]:
    """All relations between pairs of the ranks."""
    nested = [_nested_parts(rank, place) for rank, place in enumerate(places)]
    parts = [len({each[:depth] for each in nested}) for depth in range(6)]
    farthest_first = zip(reversed(Relation), pairwise(parts), strict=True)
    return {relation for relation, (whole, within) in farthest_first if within > whole}


def spans_nodes(places: EqualNodes | tuple[RankPlace, ...]) -> bool:
    """Whether ranks are known to be on several nodes."""
    if isinstance(places, EqualNodes):
        return places.nodes > 1
    return any(place.node != places[0].node for place in places)


def sockets_are_known(places: EqualNodes | tuple[RankPlace, ...]) -> bool:
    """Whether the sockets of ranks are known."""
    if isinstance(places, EqualNodes):
        return places.parts is not None
    return any(place.socket is not None for place in places)


def _nested_parts(rank: int, place: RankPlace) -> tuple[object, ...]:
    """Nested parts of the machine that contain the rank; an unknown part contains only this rank."""
    alone = ("rank", rank)
    inside = (alone if part is None else part for part in (place.socket, place.cache))
    return (place.group, place.node, *inside, rank)


@dataclass(frozen=True)
class SimulatedCall:
    """One call of a Timpani algorithm. `count` is in elements, by the collective's definition of size.

    places  EqualNodes or the place of each rank, for topology-aware algorithms and costs that depend on distance; else
            empty
    """

    collective: str
    algorithm: Algorithm
    ranks: int
    count: int
    root: int = 0
    element_bytes: int = 1
    places: EqualNodes | tuple[RankPlace, ...] = ()


EVENT_SCHEMA: dict[str, pl.DataType] = {
    "kind": pl.String(),
    "rank": pl.Int64(),
    "peer": pl.Int64(),
    "round": pl.Int64(),
    "bytes": pl.Int64(),
    "start": pl.Float64(),
    "end": pl.Float64(),
}
"""Columns of simulated events: a row for each message (`send`, from `rank` to `peer`), copy and reduction (peer −1).
If ranks wait forever, also one for each `send` or `receive` that never ends: its `end` is null."""


@dataclass(frozen=True)
class TimeBreakdown:
    """A time and the costs paid along its critical path.

    amounts  first overheads, reduced bytes, copied bytes, bytes sent eagerly, rest, idle times, and bytes on each kind
             of shared link. Idle times and shared bytes are negative where idle links saved time. Then, for each
             relation, the amounts of gap, per_byte, latency and latency_per_byte of each line. The time is the sum of
             amounts times costs
    waited   how long messages that both sides had posted waited for busy ports
    by       method: `one for all` ranks, which are equivalent; `level` by level; or `events`
    """

    time: float
    waited: float
    amounts: tuple[float, ...]
    by: str


@dataclass(frozen=True)
class NotSimulated:
    """The reason why there is no time, such as an algorithm that doesn't apply."""

    why: str


@dataclass(frozen=True)
class Simulator:
    """The native simulator in the folder `programs`."""

    programs: Path

    def events(
        self, calls: Iterable[SimulatedCall], costs: Costs = UNIT_CLOCK, *, unfinished: bool = False
    ) -> list[pl.DataFrame]:
        """The events of each call, columns EVENT_SCHEMA; UserError if an algorithm doesn't apply or ranks wait forever.

        unfinished  instead of that error the events up to then, and the sends and receives that wait, whose end is null
        """
        return [
            pl.DataFrame(_answer_or_error(answer, unfinished)["events"], schema=EVENT_SCHEMA, orient="row")
            for answer in self._request(calls, costs, "events")
        ]

    def times(self, calls: Iterable[SimulatedCall], costs: Costs) -> list[float | NotSimulated]:
        """The time of each call, in the costs' unit."""
        return [
            NotSimulated(answer["error"]) if "error" in answer else answer["time"]
            for answer in self._request(calls, costs, "time")
        ]

    def compositions(self, calls: Iterable[SimulatedCall], costs: Costs) -> list[TimeBreakdown | NotSimulated]:
        """The time of each call, with its breakdown."""
        return [
            NotSimulated(answer["error"])
            if "error" in answer
            else TimeBreakdown(answer["time"], answer["waited"], tuple(answer["amounts"]), answer["by"])
            for answer in self._request(calls, costs, "composition")
        ]

    def _request(self, calls: Iterable[SimulatedCall], costs: Costs, what: str) -> list[dict[str, Any]]:
        calls = tuple(calls)
        lines = (_costs_line(costs), *(_line(call, what) for call in calls))
        text = "".join(f"{line}\n" for line in lines)
        answer = subprocess.run(
            [self.programs / "timpani-simulate"], input=text, capture_output=True, text=True, check=False
        )
        if signal := crash(answer.returncode):
            names = " or ".join(sorted({f"{call.collective}/{call.algorithm.plain}" for call in calls}))
            raise AlgorithmError(f"the simulator ended at {names}: {signal}", "`timpani verify` shows what is wrong")
        answer.check_returncode()
        about_costs, *known = map(json.loads, answer.stdout.splitlines())
        if "error" in about_costs:
            raise ValueError(about_costs["error"])
        return known


def composition_request(call: SimulatedCall, costs: Costs) -> str:
    """The program's input for one call, for callers that start the program themselves."""
    return f"{_costs_line(costs)}\n{_line(call, 'composition')}\n"


def _answer_or_error(answer: dict[str, Any], unfinished: bool = False) -> dict[str, Any]:
    waits = "events" in answer
    if "error" in answer and not (unfinished and waits):
        step = "choose another rank count or algorithm; `timpani list algorithms`"
        raise UserError(answer["error"], "`timpani draw … --timeline` shows the messages that wait" if waits else step)
    return answer


def _costs_line(costs: Costs) -> str:
    words: list[object] = [
        "costs",
        costs.overhead,
        costs.reduced,
        costs.copied,
        costs.eager,
        costs.rest,
        *costs.shared,
        *costs.burst,
        costs.idle,
        costs.eager_below,
        int(costs.fair),
    ]
    for lines in costs.messages:
        words.append(";")
        for line in lines:
            words += astuple(line)
    return " ".join(map(str, words))


def _line(call: SimulatedCall, what: str) -> str:
    words = (call.collective, call.algorithm.plain, call.ranks, call.count, call.root, call.element_bytes, what)
    return " ".join(map(str, (*words, *_place_words(call.places))))


def _place_words(places: EqualNodes | tuple[RankPlace, ...]) -> Iterator[object]:
    if isinstance(places, EqualNodes):
        yield from (places.nodes, places.groups, places.by)
        if parts := places.parts:  # unknown caches are not shared
            yield from (parts.cores, parts.sockets, parts.caches or parts.cores, parts.by)
        return
    seated = any(each.socket is not None for each in places)
    for rank, each in enumerate(places):
        yield from (each.node, each.group)
        if seated:
            alone = -1 - rank
            yield from (alone if part is None else part for part in (each.socket, each.cache))
