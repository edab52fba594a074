"""What is to be predicted: calls of our algorithms over rank counts and sizes, on a machine."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

from timpani.errors import UserError, unknown
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.libraries.hosts import Host
from timpani.machine.model import Machine
from timpani.machine.places import asked_places
from timpani.native.side_by_side import on_every_core, usable_cores
from timpani.prediction.effort import Effort, effort
from timpani.prediction.observed import Places, places_on
from timpani.schedules.simulation import Call, Costs, EqualNodes, Simulator
from timpani.study.cell import Algorithm
from timpani.study.compose import split_algorithms
from timpani.study.counted import counted
from timpani.study.operations import COLLECTIVES
from timpani.study.sizes import show_sizes

_ALL = ("all", "timpani/all")


class Named(NamedTuple):
    """An algorithm of ours with its parameters, of a collective."""

    collective: str
    algorithm: Algorithm
    info: AlgorithmInfo

    def __str__(self) -> str:
        return f"{self.collective} {self.algorithm.plain}"


@dataclass(frozen=True)
class Limits:
    """What one call may take to simulate; memory_bytes: all calls that are simulated at a time."""

    seconds: float
    memory_bytes: float

    def exceeded_by(self, seconds: float, memory_bytes: float) -> str:
        """Why a call would take too long or too much memory, in words; nothing where it wouldn't."""
        at_a_time = usable_cores()
        if memory_bytes * at_a_time > self.memory_bytes:
            free = f"{self.memory_bytes / 1e9:,.1f} are free for {counted(at_a_time, 'call')} at a time"
            return f"simulating it would take about {memory_bytes / 1e9:,.1f} GB of memory, and {free}"
        if seconds > self.seconds:
            return f"simulating it would take about {_rounded(seconds)} s, and a call may take {self.seconds:g} s"
        return ""


class _Kind(NamedTuple):
    """Calls whose rank counts tell of each other: equal blocks may need one rank alone to be simulated, others all."""

    named: Named
    size: int
    equal_blocks: bool

    def trial(self, ranks_a_node: int | None, ranks: int) -> Call:
        """On as full nodes as the call: where nodes are told apart, ranks that are alike are simulated one by one."""
        places = EqualNodes(max(1, ranks // ranks_a_node)) if ranks_a_node else ()
        size = self.size
        if (size % ranks == 0) != self.equal_blocks:
            size = -(-size // ranks) * ranks if self.equal_blocks else size + 1
        return _call(self.named, ranks, size, places)


@dataclass(frozen=True)
class Plan:
    """What is to be simulated: the calls, the processor time that each should take, and a sentence for each that is
    left out."""

    calls: list[Call]
    seconds: list[float]
    left_out: list[str]

    @property
    def time(self) -> float:
        """Seconds until all are simulated, as many at a time as there are cores."""
        return max(sum(self.seconds) / usable_cores(), max(self.seconds, default=0.0))


@dataclass(frozen=True)
class Request:
    """machine, placement: where ranks are; no machine: all as close as those that were measured."""

    algorithms: Sequence[Named]
    ranks: Sequence[int]
    sizes: Sequence[int]
    machine: Machine | None
    placement: str

    def plan(
        self, simulator: Simulator, costs: Costs, limits: Limits, passed: Callable[[float], None] = lambda share: None
    ) -> "Plan":
        """The calls that can be simulated within `limits`, and why others can't; UserError where the machine has too
        few cores. `passed` is told the share of the whole, 0 to 1, that each estimate was."""
        places = {ranks: self._places(ranks) for ranks in self.ranks}
        plan = Plan([], [], [])
        admitted: dict[Named, list[int]] = {}
        for named in self.algorithms:
            restrictions = named.info.restrictions
            if restrictions.topology and self.machine is None:
                plan.left_out.append(f"{named}: it depends on which ranks share a node; name a machine with --on")
                continue
            admitted[named] = [ranks for ranks in self.ranks if restrictions.admit(ranks)]
            if refused := [str(ranks) for ranks in self.ranks if ranks not in admitted[named]]:
                plan.left_out.append(f"{named} on {', '.join(refused)} ranks: it applies only where: {restrictions}")
        kinds: dict[_Kind, int] = {}
        for named, counts in admitted.items():
            for size, ranks in product(self._sizes(named), counts):
                kind = _Kind(named, size, equal_blocks=size % ranks == 0)
                kinds[kind] = max(ranks, kinds.get(kind, 0))

        def tried(kind: _Kind, most: int) -> Effort:
            return effort(simulator, costs, partial(kind.trial, _ranks_a_node(places[most], most)), most)

        efforts: dict[_Kind, Effort] = {}
        with on_every_core() as pool:
            for kind, found in zip(kinds, pool.map(tried, kinds.keys(), kinds.values()), strict=True):
                efforts[kind] = found
                passed(1 / len(kinds))
        for named, counts in admitted.items():
            for ranks in counts:
                beyond: dict[int, str] = {}
                for size in self._sizes(named):
                    seconds, memory = efforts[_Kind(named, size, equal_blocks=size % ranks == 0)].at(ranks)
                    if why := limits.exceeded_by(seconds, memory):
                        beyond[size] = why
                    else:
                        plan.calls.append(_call(named, ranks, size, places[ranks]))
                        plan.seconds.append(seconds)
                if beyond:
                    why = next(iter(beyond.values()))
                    plan.left_out.append(f"{named} on {ranks} ranks, {show_sizes([*beyond])}: {why}")
        return plan

    def _sizes(self, named: Named) -> Sequence[int]:
        known = COLLECTIVES.get(named.collective)
        return self.sizes if known is None or known.sized else (0,)

    def _places(self, ranks: int) -> Places | EqualNodes:
        if self.machine is None:
            return ()
        hosts = tuple(Host(node) for group in self.machine.groups for node in group.nodes)
        placed = asked_places(self.machine, hosts, self.placement, ranks)
        if len(placed) < ranks:
            raise UserError(
                f"{self.machine.name} has cores for {len(placed)} of {ranks} ranks, placed by {self.placement}",
                "ask for fewer, or name a machine file with more nodes: --on FILE",
            )
        return compact(places_on(tuple(place.host for place in placed), self.machine))


def named_algorithms(collectives: Sequence[str], names: str, own: Catalogue) -> list[Named]:
    """The algorithms of ours that `names` lists, of each collective that has them; UserError for one that none has."""
    for collective in collectives:
        if collective not in own.algorithms:
            raise unknown("collective with algorithms of ours", collective, own.algorithms, "timpani list algorithms")
    if names in _ALL:
        return [
            Named(info.collective, Algorithm(own.provider, info.name), info)
            for info in own
            if info.collective in collectives
        ]
    found: dict[tuple[str, Algorithm], Named] = {}  # each once, however often and by whatever names it is typed
    for typed in map(Algorithm.parse, split_algorithms(names)):
        having = [
            collective
            for collective in collectives
            if any(typed.name in (info.name, *info.aliases) for info in own.algorithms[collective])
        ]
        for collective in having or collectives:  # where none has it, the catalogue says so
            resolved = own.resolve(collective, typed)
            info = own.info(collective, resolved)
            assert info is not None  # only a library's default has none
            found[collective, resolved] = Named(collective, resolved, info)
    return list(found.values())


def compact(places: Places) -> Places | EqualNodes:
    """The same places in a few words where nodes are equal: a million numbers less to be written for each call."""
    nodes, groups = len({place.node for place in places}), len({place.group for place in places})
    alike = (EqualNodes(nodes, groups, "core"), EqualNodes(nodes, groups, "node"))
    ranks = len(places)
    found = (each for each in alike if all(each.place(rank, ranks) == place for rank, place in enumerate(places)))
    return next(found, places) if places else places


def _ranks_a_node(places: Places | EqualNodes, ranks: int) -> int | None:
    """On average, rounded up; None where nobody knows which ranks share a node."""
    if isinstance(places, EqualNodes):
        return -(-ranks // places.nodes)
    return -(-ranks // len({place.node for place in places})) if places else None


def _call(named: Named, ranks: int, size: int, places: Places | EqualNodes) -> Call:
    """On single bytes."""
    return Call(named.collective, named.algorithm, ranks, size, places=places)


def _rounded(seconds: float) -> str:
    return f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.2g}"
