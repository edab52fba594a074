"""What to predict: calls of algorithms over rank counts and sizes on a machine."""

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import log
from typing import NamedTuple

from timpani.errors import UserError
from timpani.libraries.library import Host
from timpani.machine.nodes.host_list import RankBinding, requested_places
from timpani.machine.nodes.locality import Seat
from timpani.machine.nodes.model import Machine, NodeGroup
from timpani.native.children import on_every_core, usable_cores
from timpani.schedules.algorithms.simulation import (
    Costs,
    EqualNodes,
    NodeParts,
    SimulatedCall,
    Simulator,
    composition_request,
)
from timpani.schedules.predict.observed import Places, places_on
from timpani.schedules.predict.selected_algorithms import (
    SelectedAlgorithm,
    sizes_of,
)
from timpani.study.cell import Algorithm
from timpani.study.sizes import show_sizes
from timpani.study.words import counted

_FIRST_RANKS, _RANKS_FACTOR = 128, 4
"""Few enough ranks for algorithms of p² messages. Every algorithm admits powers of two."""

_ENOUGH_SECONDS = 0.05
"""Duration of a trial after which no further one follows."""

_PROGRAM_BYTES = 5e6
_MIN_SECONDS, _MIN_BYTES = 1e-3, 1e5
_ALLOCATION_FACTOR = 2.0  # as memory is allocated in powers of two


@dataclass(frozen=True)
class Effort:
    """Processor time and memory at `ranks` ranks, and the exponents with which they grow with the rank count."""

    ranks: int
    seconds: float
    memory_bytes: float
    time_exponent: float
    memory_exponent: float

    def at(self, ranks: int) -> tuple[float, float]:
        """Seconds and bytes of one call; fewer ranks than in the trials take at most proportionally less."""
        growth = ranks / self.ranks
        time, memory = (self.time_exponent, self.memory_exponent) if growth > 1 else (1.0, 1.0)
        return self.seconds * growth**time, self.memory_bytes * growth**memory


Estimate = Callable[[Simulator, Costs, Callable[[int], SimulatedCall], int], Effort]
"""Predicts what simulating `call(ranks)` takes for up to the given number of ranks."""


def effort(simulator: Simulator, costs: Costs, call: Callable[[int], SimulatedCall], max_ranks: int) -> Effort:
    """Try `call` at growing rank counts, at least two, until a trial is long enough or the next exceeds
    `max_ranks`."""
    ranks = _FIRST_RANKS
    trials = [_trial(simulator, costs, call(ranks))]
    while len(trials) < 2 or (trials[-1][0] < _ENOUGH_SECONDS and ranks * _RANKS_FACTOR <= max_ranks):
        ranks *= _RANKS_FACTOR
        trials.append(_trial(simulator, costs, call(ranks)))
    (first_seconds, first_bytes), (seconds, memory) = trials[-2:]
    return Effort(
        ranks,
        seconds,
        _ALLOCATION_FACTOR * memory,
        max(1.0, log(seconds / first_seconds, _RANKS_FACTOR)),
        max(1.0, log(memory / first_bytes, _RANKS_FACTOR)),
    )


def _trial(simulator: Simulator, costs: Costs, call: SimulatedCall) -> tuple[float, float]:
    process = subprocess.Popen(
        [simulator.programs / "timpani-simulate"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{composition_request(call, costs)}peak\n")
    process.stdin.close()
    *_, peak = map(json.loads, process.stdout)
    process.stdout.close()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = used.ru_utime + used.ru_stime
    return max(seconds, _MIN_SECONDS), max(peak["peak_bytes"] - _PROGRAM_BYTES, _MIN_BYTES)


class PredictionRequest(NamedTuple):
    """An algorithm, and the same call by each of its possible schedules."""

    selected: SelectedAlgorithm
    calls: tuple[SimulatedCall, ...]


@dataclass(frozen=True)
class Limits:
    """Limits of simulating one call; memory_bytes: of all calls simulated at the same time."""

    seconds: float
    memory_bytes: float

    def excess(self, seconds: float, memory_bytes: float, calls: int) -> str:
        """Why one of `calls` calls would exceed a limit, for a message; empty if it doesn't."""
        at_a_time = min(usable_cores(), calls)
        if memory_bytes * at_a_time > self.memory_bytes:
            free = f"{self.memory_bytes / 1e9:,.1f} are free for {counted(at_a_time, 'call')} at a time"
            return f"simulating it would take about {memory_bytes / 1e9:,.1f} GB of memory, and {free}"
        if seconds > self.seconds:
            return f"simulating it would take about {_rounded(seconds)} s, and a call may take {self.seconds:g} s"
        return ""


class _CallKind(NamedTuple):
    """Calls that share a cost estimate. With equal blocks one simulated rank may suffice; otherwise all are
    simulated."""

    collective: str
    schedule: Algorithm
    size: int
    equal_blocks: bool

    def call(self, ranks: int, places: Places | EqualNodes) -> SimulatedCall:
        """The call with elements of one byte."""
        return SimulatedCall(self.collective, self.schedule, ranks, self.size, places=places)

    def trial(self, ranks_per_node: int | None, ranks: int) -> SimulatedCall:
        """A trial call with as many ranks per node: where nodes matter, every rank is simulated."""
        places = EqualNodes(max(1, ranks // ranks_per_node)) if ranks_per_node else ()
        if (self.size % ranks == 0) == self.equal_blocks:
            return self.call(ranks, places)
        size = -(-self.size // ranks) * ranks if self.equal_blocks else self.size + 1
        return self._replace(size=size).call(ranks, places)


@dataclass(frozen=True)
class Plan:
    """Calls to simulate.

    requests  the requests
    seconds   estimated processor time of each call
    left_out  a sentence for each request that can't be simulated
    """

    requests: list[PredictionRequest]
    seconds: dict[SimulatedCall, float]
    left_out: list[str]

    @property
    def time(self) -> float:
        """Seconds until all are simulated, on all cores in parallel."""
        return max(sum(self.seconds.values()) / usable_cores(), max(self.seconds.values(), default=0.0))


@dataclass(frozen=True)
class Request:
    """machine, placement: where ranks are; without a machine all ranks are as close as the measured ones."""

    algorithms: Sequence[SelectedAlgorithm]
    ranks: Sequence[int]
    sizes: Sequence[int]
    machine: Machine | None
    placement: str

    def plan(
        self,
        simulator: Simulator,
        models: Sequence[Costs],
        limits: Limits,
        passed: Callable[[float], None] = lambda share: None,
        estimate: Estimate = effort,
    ) -> "Plan":
        """The calls that can be simulated within `limits`, and why others can't.

        Each call is simulated once by each of `models`. UserError if the machine has too few cores. `passed` receives
        each estimate's share of the whole, 0 to 1. `estimate` predicts the time of one simulation of a call.
        """
        places = {ranks: self.places(ranks) for ranks in self.ranks}
        plan = Plan([], {}, [])
        admitted: dict[SelectedAlgorithm, list[int]] = {}
        for named in self.algorithms:
            if any(each.info.restrictions.topology for each in named.schedules) and self.machine is None:
                plan.left_out.append(f"{named}: it depends on which ranks share a node; name a machine with --on")
                continue
            admitted[named] = [ranks for ranks in self.ranks if named.on(ranks)]
            if refused := [str(ranks) for ranks in self.ranks if ranks not in admitted[named]]:
                wanted = " or ".join(dict.fromkeys(each.info.restrictions.ranks_wanted() for each in named.schedules))
                plan.left_out.append(f"{named} on {', '.join(refused)} ranks: it takes {wanted}")
        kinds: dict[_CallKind, int] = {}
        for named, counts in admitted.items():
            for size, ranks in product(self._sizes(named), counts):
                for kind in _call_kinds(named, size, ranks):
                    kinds[kind] = max(ranks, kinds.get(kind, 0))

        def fitted(kind: _CallKind, most: int) -> Effort:
            return estimate(simulator, models[0], partial(kind.trial, _ranks_per_node(places[most], most)), most)

        efforts: dict[_CallKind, Effort] = {}
        with on_every_core() as pool:
            for kind, found in zip(kinds, pool.map(fitted, kinds.keys(), kinds.values()), strict=True):
                efforts[kind] = found
                passed(1 / len(kinds))
        in_all = sum(len(self._sizes(named)) * len(counts) for named, counts in admitted.items())
        for named, counts in admitted.items():
            for ranks in counts:
                beyond: dict[int, str] = {}
                for size in self._sizes(named):
                    kinds_here = _call_kinds(named, size, ranks)
                    each_once = {kind.call(ranks, places[ranks]): efforts[kind].at(ranks) for kind in kinds_here}
                    calls = {call: (len(models) * seconds, used) for call, (seconds, used) in each_once.items()}
                    if why := next(filter(None, (limits.excess(*each, in_all) for each in calls.values())), ""):
                        beyond[size] = why
                    else:
                        plan.requests.append(PredictionRequest(named, tuple(calls)))
                        plan.seconds.update((call, seconds) for call, (seconds, _) in calls.items())
                if beyond:
                    why = next(iter(beyond.values()))
                    plan.left_out.append(f"{named} on {ranks} ranks, {show_sizes([*beyond])}: {why}")
        return plan

    def _sizes(self, named: SelectedAlgorithm) -> Sequence[int]:
        if named.library:
            return [size for size, _ in named.off]
        return sizes_of(named.collective, self.sizes)

    def places(self, ranks: int) -> Places | EqualNodes:
        """The places of `ranks` ranks; empty if unknown. UserError if the machine has too few cores."""
        if self.machine is None:
            return ()
        hosts = tuple(Host(node) for group in self.machine.groups for node in group.nodes)
        placed = requested_places(self.machine, hosts, self.placement, ranks)
        if len(placed) < ranks:
            raise UserError(
                f"{self.machine.name} has cores for {len(placed)} of {ranks} ranks, placed by {self.placement}",
                "use fewer ranks, or a machine file with more nodes: --on FILE",
            )
        layouts = {_node_parts(group) for group in self.machine.groups}
        parts = layouts.pop() if len(layouts) == 1 else None
        if parts and self.placement == "socket":
            parts = replace(parts, by="socket")
        return compact(places_on((_seat(self.machine, place) for place in placed), self.machine), parts)


def _node_parts(group: NodeGroup) -> NodeParts | None:
    """The parts of each node of a group; None if it has one socket and no known caches."""
    return NodeParts(group.cores, group.sockets, group.caches) if group.sockets > 1 or group.caches else None


def _seat(machine: Machine, place: RankBinding) -> Seat:
    group = machine.group_of(place.host)
    if (parts := _node_parts(group)) is None:
        return Seat(place.host)
    return Seat(place.host, *parts.seat(place.core + (place.socket or 0) * (group.cores // group.sockets)))


def compact(places: Places, parts: NodeParts | None = None) -> Places | EqualNodes:
    """Describe places by EqualNodes if nodes are equal, each with these `parts`: that spares writing two numbers per
    rank and call."""
    nodes, groups = len({place.node for place in places}), len({place.group for place in places})
    layouts = (EqualNodes(nodes, groups, "core", parts), EqualNodes(nodes, groups, "node", parts))
    ranks = len(places)
    found = (each for each in layouts if all(each.place(rank, ranks) == place for rank, place in enumerate(places)))
    return next(found, places) if places else places


def _ranks_per_node(places: Places | EqualNodes, ranks: int) -> int | None:
    """Average number of ranks per node, rounded up; None if unknown."""
    if isinstance(places, EqualNodes):
        return -(-ranks // places.nodes)
    return -(-ranks // len({place.node for place in places})) if places else None


def _call_kinds(named: SelectedAlgorithm, size: int, ranks: int) -> list[_CallKind]:
    """The kind of each schedule that admits this rank count."""
    equal = size % ranks == 0
    return [_CallKind(named.collective, each, size, equal_blocks=equal) for each in named.on(ranks)]


def _rounded(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.2g}"
