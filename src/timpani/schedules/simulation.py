"""Our schedules on a clock: when each message flows, as `native/simulate` walks them."""

import json
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from enum import IntEnum
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import polars as pl

from timpani.errors import UserError
from timpani.study.cell import Algorithm


@dataclass(frozen=True)
class CostLine:
    """What a message takes by its own size, from `first_bytes` on: of n bytes gap + per_byte · n, for which it holds
    the sender's port and the receiver's, and then latency + latency_per_byte · n, in which both may be at others: where
    one message alone is slower than the port."""

    first_bytes: int = 0
    gap: float = 0.0
    per_byte: float = 0.0
    latency: float = 0.0
    latency_per_byte: float = 0.0


class Relation(IntEnum):
    """How close two ranks are, the closest first: the smallest part of a machine that is known to hold both."""

    cache = 0
    socket = 1
    node = 2
    group = 3
    groups = 4


NO_BURST = (0.0, 0.0, 0.0)

Messages = tuple[tuple[CostLine, ...], ...]
"""Lines by ascending first_bytes, by Relation. Where one has none, those of the next closer one that has some hold,
else of the next farther one."""

NOT_APART: Messages = ((), ())
"""The first of them, where what messages on one node take holds for ranks of a cache and of a socket, too."""


@dataclass(frozen=True)
class Costs:
    """What a call pays, in any one unit of time; the standard values are the unit clock: a message takes one tick.

    overhead  of a rank, for each message that it sends
    reduced   a byte that is reduced
    copied    a byte that is copied
    eager     a byte that a rank sends eagerly, which it copies first
    rest      of a call, beyond what its schedule does: ranks begin and end it at rest
    idle      how long shared links with a burst have been idle when a call begins
    shared    a byte that passes what others pass too: a socket's memory, or a node's where nobody knows sockets,
              within a node and, where `fair`, between nodes; a node's link, in each direction; a group's uplink, in
              each direction. 0 is no limit
    burst     bytes that pass such a link at once after it has been idle, as a token bucket lets them; not with `fair`
    eager_below  messages of fewer bytes are on their way before their receiver waits for them
    fair      messages under way at once share ports and links fairly; else one passes behind the other
    messages  what each takes; of ranks that nobody knows how close they are, what on one node
    noise     factors of each message's time, drawn for it alone: quantiles in ascending order, at equal steps from the
              least to the largest; none, or two and more. A time is then the middle one of _DRAWS calls that differ by
              what was drawn
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
    noise: tuple[float, ...] = ()


UNIT_CLOCK = Costs()


def relation_that_tells(messages: Messages, relation: Relation) -> Relation:
    """Whose lines hold between ranks of this relation."""
    told = [each for each in Relation if messages[each : each + 1] not in ((), ((),))]
    return max((each for each in told if each <= relation), default=min(told))


@dataclass(frozen=True)
class RankPlace:
    """The node that a rank is on and the node's group, by number; and by its node's numbers the socket and the
    last-level cache. None where nobody knows; whose cache is known, the socket is, too."""

    node: int
    group: int = 0
    socket: int | None = None
    cache: int | None = None


@dataclass(frozen=True)
class NodeParts:
    """A node's cores, over sockets of equally many and last-level caches of equally many, which no two sockets share.

    caches  None where nobody knows
    by      core: ranks are on one core behind the other; socket: dealt out, one a socket
    """

    cores: int
    sockets: int = 1
    caches: int | None = None
    by: Literal["core", "socket"] = "core"

    def seat(self, place: int) -> tuple[int, int | None]:
        """The socket and the cache of a node's rank number `place`."""
        each = self.cores // self.sockets
        core = place if self.by == "core" else place % self.sockets * each + place // self.sockets
        return core // each, core // (self.cores // self.caches) if self.caches else None


@dataclass(frozen=True)
class EqualNodes:
    """Ranks over nodes and nodes over groups, as evenly as the numbers allow.

    by     core: each node is filled in turn; node: ranks are dealt out, one a node
    parts  of each node; None where nobody knows its sockets
    """

    nodes: int
    groups: int = 1
    by: Literal["core", "node"] = "core"
    parts: NodeParts | None = None

    def place(self, rank: int, ranks: int) -> RankPlace:
        """Of one of so many ranks, as Topology::even of native/collectives has it."""
        if self.by == "node":
            node, number = rank % self.nodes, rank // self.nodes
        else:
            node = rank * self.nodes // ranks
            number = rank - -(-node * ranks // self.nodes)
        seat = self.parts.seat(number) if self.parts else ()
        return RankPlace(node, node * self.groups // self.nodes, *seat)

    def relations(self, ranks: int) -> set[Relation]:
        """Those that any two of so many ranks have to each other."""
        seats = (self.parts.seat(number) if self.parts else () for number in range(-(-ranks // self.nodes)))
        within = relations_among(RankPlace(0, 0, *seat) for seat in seats)
        across = {Relation.group: self.nodes > self.groups, Relation.groups: self.groups > 1}
        return within | {relation for relation, there in across.items() if there}


def relations_among(places: Iterable[RankPlace]) -> set[Relation]:
    """Those that any two of the ranks have to each other."""
    nested = [_parts_of(rank, place) for rank, place in enumerate(places)]
    parts = [len({each[:depth] for each in nested}) for depth in range(6)]
    farthest_first = zip(reversed(Relation), pairwise(parts), strict=True)
    return {relation for relation, (whole, within) in farthest_first if within > whole}


def leaves_a_node(places: EqualNodes | tuple[RankPlace, ...]) -> bool:
    """Whether it is known that ranks are on several nodes."""
    if isinstance(places, EqualNodes):
        return places.nodes > 1
    return any(place.node != places[0].node for place in places)


def tells_sockets(places: EqualNodes | tuple[RankPlace, ...]) -> bool:
    """Whether the sockets of ranks are known."""
    if isinstance(places, EqualNodes):
        return places.parts is not None
    return any(place.socket is not None for place in places)


def _parts_of(rank: int, place: RankPlace) -> tuple[object, ...]:
    """Each within the one before it; of parts that nobody knows the rank has one of its own."""
    alone = ("rank", rank)
    inside = (alone if part is None else part for part in (place.socket, place.cache))
    return (place.group, place.node, *inside, rank)


@dataclass(frozen=True)
class SimulatedCall:
    """One call of an algorithm of ours. `count` is in elements, as the collective's size counts them.

    places  for algorithms that ask which ranks share a node, and costs that differ by how close ranks are: EqualNodes,
            or the place of each rank; else empty
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
"""The columns of what happened: a row for each message (`send`, from `rank` to `peer`), copy and
reduction (peer −1)."""


@dataclass(frozen=True)
class TimeBreakdown:
    """What a time is made of: of each cost how much was paid on the way to it, one behind the other.

    amounts  overheads, reduced bytes, copied bytes, bytes sent eagerly, rest, idle times, and bytes of each kind of
             shared link, these two under 0 where links that had been idle saved time; then what the gap, per_byte,
             latency and latency_per_byte of each line was paid for, line after line of one relation after the other.
             Their sum, each times its cost, is the time
    waited   of the time, how long messages that both sides had posted waited for a port that others held
    by       how it was found: `one for all` ranks, which are alike; `level` by level; or by `events`
    """

    time: float
    waited: float
    amounts: tuple[float, ...]
    by: str


_PIECE_BYTES = 1 << 20
_DRAWS = 9  # odd, so that the middle one is one of them


@dataclass(frozen=True)
class NotSimulated:
    """In place of a time: why there is none, such as that the algorithm does not apply."""

    why: str


@dataclass(frozen=True)
class Simulator:
    """The native simulator in the folder `programs`."""

    programs: Path

    def events(self, calls: Iterable[SimulatedCall], costs: Costs = UNIT_CLOCK) -> list[pl.DataFrame]:
        """What happens in each call, columns EVENT_SCHEMA, with the first of what noise may be drawn; UserError where
        an algorithm does not apply."""
        return [
            pl.DataFrame(_granted(answer)["events"], schema=EVENT_SCHEMA, orient="row")
            for answer in self._ask(calls, costs, "events")
        ]

    def times(self, calls: Iterable[SimulatedCall], costs: Costs) -> list[float | NotSimulated]:
        """How long each call takes, in the costs' unit."""
        return [
            NotSimulated(answer["error"]) if "error" in answer else answer["time"]
            for answer in self._middle(calls, costs, "time")
        ]

    def drawn(self, calls: Iterable[SimulatedCall], costs: Costs, draw: int) -> list[float]:
        """How long each call takes in one draw of the noise, in the costs' unit; UserError where an algorithm does not
        apply."""
        return [_granted(answer)["time"] for answer in self._ask(calls, costs, "time", draw)]

    def compositions(self, calls: Iterable[SimulatedCall], costs: Costs) -> list[TimeBreakdown | NotSimulated]:
        """How long each call takes, and what that is made of."""
        return [
            NotSimulated(answer["error"])
            if "error" in answer
            else TimeBreakdown(answer["time"], answer["waited"], tuple(answer["amounts"]), answer["by"])
            for answer in self._middle(calls, costs, "composition")
        ]

    def goal(self, call: SimulatedCall) -> Iterator[bytes]:
        """What all ranks do as GOAL text, piece by piece (native/simulate/goal.hpp); UserError where the algorithm does
        not apply."""
        program = subprocess.Popen([self.programs / "timpani-simulate"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert program.stdin is not None
        assert program.stdout is not None
        with program:
            program.stdin.write(f"{_line(call, 'goal')}\n".encode())
            program.stdin.close()
            first = program.stdout.readline()
            if first.startswith(b"{"):
                _granted(json.loads(first))
            yield first
            while piece := program.stdout.read(_PIECE_BYTES):
                yield piece
        if program.returncode != 0:
            raise RuntimeError(f"timpani-simulate ended with status {program.returncode}")

    def _middle(self, calls: Iterable[SimulatedCall], costs: Costs, what: str) -> list[dict[str, Any]]:
        """Of each call the answer with the middle time of all draws."""
        asked = tuple(calls)
        draws = [self._ask(asked, costs, what, draw) for draw in range(_DRAWS if costs.noise else 1)]
        return [
            sorted(answers, key=lambda answer: answer.get("time", 0.0))[len(answers) // 2]
            for answers in zip(*draws, strict=True)
        ]

    def _ask(self, calls: Iterable[SimulatedCall], costs: Costs, what: str, draw: int = 0) -> list[dict[str, Any]]:
        lines = (*_costs_lines(costs, draw), *(_line(call, what) for call in calls))
        text = "".join(f"{line}\n" for line in lines)
        answer = subprocess.run(
            [self.programs / "timpani-simulate"], input=text, capture_output=True, text=True, check=True
        )
        told: list[dict[str, Any]] = [json.loads(line) for line in answer.stdout.splitlines()]
        about_costs = len(_costs_lines(costs, draw))
        for about in told[:about_costs]:
            if "error" in about:
                raise ValueError(about["error"])
        return told[about_costs:]


def composition_request(call: SimulatedCall, costs: Costs) -> str:
    """What the program reads to answer one call, for who starts it himself."""
    return "".join(f"{line}\n" for line in (*_costs_lines(costs, 0), _line(call, "composition")))


def _granted(answer: dict[str, Any]) -> dict[str, Any]:
    if "error" in answer:
        raise UserError(answer["error"], "choose another rank count or algorithm; `timpani list algorithms`")
    return answer


def _costs_lines(costs: Costs, draw: int) -> list[str]:
    words: list[object] = [
        "costs",
        costs.overhead,
        costs.reduced,
        costs.copied,
        costs.eager,
        costs.rest,
        *costs.shared,
        costs.eager_below,
        *(["fair"] if costs.fair else []),
    ]
    for lines in costs.messages:
        words.append(";")
        for line in lines:
            words += astuple(line)
    noise = [["noise", draw, *costs.noise]] if costs.noise else []
    credit = [["credit", costs.idle, *costs.burst]] if any(costs.burst) else []
    return [" ".join(map(str, each)) for each in (words, *credit, *noise)]


def _line(call: SimulatedCall, what: str) -> str:
    words = (call.collective, call.algorithm.plain, call.ranks, call.count, call.root, call.element_bytes, what)
    return " ".join(map(str, (*words, *_place_words(call.places))))


def _place_words(places: EqualNodes | tuple[RankPlace, ...]) -> Iterator[object]:
    if isinstance(places, EqualNodes):
        yield from (places.nodes, places.groups, places.by)
        if parts := places.parts:  # where nobody knows who shares a cache, nobody does
            yield from (parts.cores, parts.sockets, parts.caches or parts.cores, parts.by)
        return
    seated = any(each.socket is not None for each in places)
    for rank, each in enumerate(places):
        yield from (each.node, each.group)
        if seated:
            alone = -1 - rank
            yield from (alone if part is None else part for part in (each.socket, each.cache))
