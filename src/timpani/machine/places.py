"""Which rank goes where: as asked, worked out from hosts and placement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from timpani.machine.hosts import Host, HostList
from timpani.machine.model import Machine
from timpani.study.placement import ranks_per_node


@dataclass(frozen=True)
class Place:
    """A core: of a host's socket, both counted from 0."""

    host: str
    socket: int
    core: int


def with_slots(machine: Machine, hosts: Sequence[Host]) -> HostList:
    """The hosts, each with slots: as many as its cores where none were given."""
    return tuple(replace(host, slots=host.slots or machine.group_of(host.name).cores) for host in hosts)


def slots(machine: Machine, host: Host, placement: str) -> int:
    """The ranks that a host takes without sharing a core."""
    cores = machine.group_of(host.name).cores
    return min(cores, ranks_per_node(placement) or host.slots or cores)


def capacity(machine: Machine, hosts: Sequence[Host], placement: str) -> int:
    """The ranks that all hosts take so."""
    return sum(slots(machine, host, placement) for host in hosts)


def asked_places(machine: Machine, hosts: Sequence[Host], placement: str, ranks: int) -> list[Place]:
    """The place of each rank, in rank order; fewer than `ranks` where the hosts' slots are used up."""
    return list(islice(_places(machine, hosts, placement), ranks))


def _places(machine: Machine, hosts: Sequence[Host], placement: str) -> Iterator[Place]:
    room = [(host, slots(machine, host, placement)) for host in hosts]
    if placement == "node":
        for turn in range(max((count for _, count in room), default=0)):
            yield from (_place(machine, host, placement, turn) for host, count in room if turn < count)
    else:
        for host, count in room:
            yield from (_place(machine, host, placement, number) for number in range(count))


def _place(machine: Machine, host: Host, placement: str, number: int) -> Place:
    """The place of a host's rank `number`: socket by socket, or from each socket in turn."""
    group = machine.group_of(host.name)
    if placement == "socket":
        core, socket = divmod(number, group.sockets)
    else:
        socket, core = divmod(number, max(1, group.cores // group.sockets))
    return Place(host.name, socket, core)
