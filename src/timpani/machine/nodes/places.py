"""Computes the place of each rank from hosts and placement."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from timpani.libraries.launch_request import Host, HostList
from timpani.machine.nodes.category import placement_problem, resolve_mapping
from timpani.machine.nodes.model import Machine
from timpani.study.placement import category, ranks_per_node


@dataclass(frozen=True)
class RankBinding:
    """The core of a rank, numbered from 0 in its socket; if the machine has one socket, `socket` is None."""

    host: str
    socket: int | None
    core: int


def with_slots(machine: Machine, hosts: Sequence[Host]) -> HostList:
    """The hosts with slots: by default, as many as their cores."""
    return tuple(replace(host, slots=host.slots or machine.group_of(host.name).cores) for host in hosts)


def capacity(machine: Machine, hosts: Sequence[Host], placement: str) -> int:
    """Number of ranks that fit without sharing cores; for a category's host files, on any nodes."""
    placement = placement if category(placement) is None else "core"
    return sum(_slots_of(machine, host, placement) for host in hosts)


def requested_places(machine: Machine, hosts: Sequence[Host], placement: str, ranks: int) -> list[RankBinding]:
    """The place of each rank, in rank order; fewer than `ranks` if ranks would share cores."""
    hosts, placement = resolve_mapping(machine, hosts, placement, ranks)
    return list(islice(_places(machine, hosts, placement), ranks))


def ranks_on_one_node(machine: Machine, hosts: Sequence[Host], placement: str, counts: Sequence[int]) -> Iterator[str]:
    """Sentences on rank counts that use only the first of several hosts."""
    staying = [
        ranks
        for ranks in counts
        if not placement_problem(machine, hosts, placement, ranks)
        and len({each.host for each in requested_places(machine, hosts, placement, ranks)}) == 1
    ]
    if len(hosts) > 1 and staying:
        which = ", ".join(map(str, staying))
        yield f"{which} ranks by {placement} all run on {hosts[0].name}, the first of {len(hosts)} nodes"


def _slots_of(machine: Machine, host: Host, placement: str) -> int:
    cores = machine.group_of(host.name).cores
    return min(cores, ranks_per_node(placement) or host.slots or cores)


def _places(machine: Machine, hosts: Sequence[Host], placement: str) -> Iterator[RankBinding]:
    slots = [(host, _slots_of(machine, host, placement)) for host in hosts]
    if placement == "node":
        for turn in range(max((count for _, count in slots), default=0)):
            yield from (_place(machine, host, placement, turn) for host, count in slots if turn < count)
    else:
        for host, count in slots:
            yield from (_place(machine, host, placement, number) for number in range(count))


def _place(machine: Machine, host: Host, placement: str, number: int) -> RankBinding:
    """The place of rank `number` of a host: filling sockets, or alternating between them."""
    group = machine.group_of(host.name)
    if group.sockets == 1:
        return RankBinding(host.name, None, number)
    if placement == "socket":
        core, socket = divmod(number, group.sockets)
    else:
        socket, core = divmod(number, group.cores // group.sockets)
    return RankBinding(host.name, socket, core)
