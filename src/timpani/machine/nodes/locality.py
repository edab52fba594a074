"""How close two ranks of a node are: the smallest part of the machine that contains both."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from timpani.machine.nodes.host_list import RankBinding
from timpani.machine.nodes.model import Machine

CpuSet = frozenset[int]

Domains = Mapping[str, Sequence[CpuSet]]
"""The CPUs of each part of a machine, by level; unknown levels are missing."""

LEVELS = {"core": "same core", "last_level_cache": "same core complex", "socket": "same socket"}
"""The levels of a machine, the closest first, with the locality of two ranks in one part."""

SAME_NODE = "same node"
SAME_SWITCH, DIFFERENT_SWITCH, DIFFERENT_NODES = "same switch", "different switch", "different nodes"

LOCALITIES = (*LEVELS.values(), SAME_NODE, SAME_SWITCH, DIFFERENT_SWITCH, DIFFERENT_NODES)
"""All localities, the closest first; the last one if switches are unknown."""


@dataclass(frozen=True)
class CorePlace:
    """The host of a rank, and the CPUs that it may use there."""

    host: str
    cpus: CpuSet


@dataclass(frozen=True)
class Seat:
    """A rank's host, and the numbers of its socket and last-level cache; None if unknown. If the cache is known, so is
    the socket."""

    host: str
    socket: int | None = None
    cache: int | None = None


def locality(a: CorePlace, b: CorePlace, domains: Domains, switches: Mapping[str, str]) -> str:
    """One of `LOCALITIES`. `domains` are those of the common host, `switches` gives each host's switch.

    A rank that isn't bound may be anywhere in its mask, so a part counts only if it contains both masks.
    """
    if a.host != b.host:
        if a.host not in switches or b.host not in switches:
            return DIFFERENT_NODES
        return SAME_SWITCH if switches[a.host] == switches[b.host] else DIFFERENT_SWITCH
    both = a.cpus | b.cpus
    shared = (word for level, word in LEVELS.items() if both and any(both <= part for part in domains.get(level, ())))
    return next(shared, SAME_NODE)


def seats(places: Sequence[CorePlace], domains: Mapping[str, Domains]) -> tuple[Seat, ...]:
    """The seats of ranks; `domains` are each host's. Sockets, or caches, are known only if each rank is bound to
    one."""

    def parts(level: str) -> list[int | None]:
        found = [_part(place.cpus, domains[place.host].get(level, ())) for place in places]
        return [None] * len(found) if None in found else found

    sockets = parts("socket")
    caches = parts("last_level_cache") if None not in sockets else sockets
    return tuple(Seat(place.host, *part) for place, *part in zip(places, sockets, caches, strict=True))


def _part(cpus: CpuSet, parts: Sequence[CpuSet]) -> int | None:
    return next((number for number, part in enumerate(parts) if cpus and cpus <= part), None)


def nearest_first(domains: Domains, allowed: CpuSet) -> list[CpuSet]:
    """The cores in the order in which placement by core fills them: socket by socket, cache by cache."""

    def first(cpu: int, level: str) -> int:
        return next((min(part) for part in domains.get(level, ()) if cpu in part), 0)

    cores = [part for part in domains.get("core", ()) if part & allowed]
    return sorted(cores, key=lambda part: (*(first(min(part), level) for level in reversed(LEVELS)), min(part)))


def pair_of_each_locality(
    places: Sequence[CorePlace], domains: Callable[[str], Domains], switches: Mapping[str, str]
) -> Iterator[tuple[int, int]]:
    """The first pair of ranks with each occurring locality, if rank i runs at `places[i]`; `domains` are a host's."""
    seen = set()
    for first, second in combinations(range(len(places)), 2):
        found = locality(places[first], places[second], domains(places[first].host), switches)
        if found not in seen:
            seen.add(found)
            yield first, second


_UNKNOWN = "nodes"
"""The name of a group whose switch is unknown."""

NodeFacts = tuple[str, int, int]
"""A node's switch, empty where it is unknown, its cores and its sockets."""


def groups_of_equal_nodes(nodes: Mapping[str, NodeFacts]) -> list[dict[str, Any]]:
    """The values of a machine's groups: equal nodes behind one switch, named after it.

    Different kinds of nodes behind one switch form separate groups, named after the switch and their cores.
    """
    equal: defaultdict[NodeFacts, list[str]] = defaultdict(list)
    for node, facts in nodes.items():
        equal[facts].append(node)
    kinds = [switch for switch, _, _ in equal]
    groups = []
    for (switch, cores, sockets), names in equal.items():
        kind = "" if kinds.count(switch) == 1 else f"-{cores}x{sockets}"
        name = f"{switch or _UNKNOWN}{kind}"
        shown = None if switch == name else switch
        groups.append({"name": name, "nodes": names, "cores": cores, "sockets": sockets, "switch": shown})
    return groups


def requested_core_places(machine: Machine, asked: Iterable[RankBinding]) -> list[CorePlace]:
    """The places, with cores numbered from 0 over all sockets of a node."""

    def core(place: RankBinding) -> int:
        group = machine.group_of(place.host)
        return place.core + (place.socket or 0) * (group.cores // group.sockets)

    return [CorePlace(place.host, frozenset({core(place)})) for place in asked]


def parts_of(machine: Machine, node: str) -> Domains:
    """The cores of each socket and last-level cache of a node, with the same numbering. No caches if they are unknown;
    no sockets if there is one and caches are unknown."""
    group = machine.group_of(node)
    counts = {"last_level_cache": group.caches, "socket": group.sockets if group.sockets > 1 or group.caches else None}
    return {level: _split(group.cores, count) for level, count in counts.items() if count}


def _split(cores: int, count: int) -> list[frozenset[int]]:
    each = cores // count
    return [frozenset(range(first, first + each)) for first in range(0, cores, each)]
