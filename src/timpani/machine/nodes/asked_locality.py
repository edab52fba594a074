"""Localities from the machine's description rather than from the ranks themselves."""

from collections.abc import Iterable

from timpani.machine.nodes import places
from timpani.machine.nodes.locality import CorePlace, Domains
from timpani.machine.nodes.model import Machine


def requested_core_places(machine: Machine, asked: Iterable[places.RankBinding]) -> list[CorePlace]:
    """The places, with cores numbered from 0 over all sockets of a node."""

    def core(place: places.RankBinding) -> int:
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
