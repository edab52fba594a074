"""How close ranks sit where a machine's nodes and sockets say it, and not the ranks themselves."""

from collections.abc import Iterable

from timpani.machine import places
from timpani.machine.locality import Domains, Place
from timpani.machine.model import Machine


def as_asked(machine: Machine, asked: Iterable[places.Place]) -> list[Place]:
    """The places, cores counted from 0 over all sockets of a node."""

    def core(place: places.Place) -> int:
        group = machine.group_of(place.host)
        return place.core + (place.socket or 0) * (group.cores // group.sockets)

    return [Place(place.host, frozenset({core(place)})) for place in asked]


def sockets_of(machine: Machine, node: str) -> Domains:
    """The cores of each socket of a node, counted alike; nothing where the machine tells of one socket, or of none."""
    group = machine.group_of(node)
    if group.sockets == 1:
        return {}
    each = group.cores // group.sockets
    return {"socket": [frozenset(range(first, first + each)) for first in range(0, group.cores, each)]}
