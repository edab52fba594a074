"""Placements by category of host file: which nodes they use, and how ranks are distributed."""

from collections.abc import Sequence

from timpani.errors import UserError
from timpani.libraries.launch_request import Host, HostList
from timpani.machine.nodes.host_list import choose_hosts
from timpani.machine.nodes.model import Machine
from timpani.machine.nodes.node_set import expand, fold
from timpani.study.placement import category, shuffle_seed

_OVER_NODES = {1: "core", 2: "node", 3: "node"}


def resolve_mapping(machine: Machine, hosts: Sequence[Host], placement: str, ranks: int) -> tuple[HostList, str]:
    """The nodes among `hosts` that `category:C:N` uses for `ranks` ranks, in order, and the distribution over them. For
    other placements, `hosts` and `placement`. UserError if there are too few nodes."""
    found = category(placement)
    if found is None:
        return tuple(hosts), placement
    number, each = found
    if ranks % each:
        raise UserError(f"{ranks} ranks can't be {each} on each node", f"choose a multiple of {each}")
    given = {host.name for host in hosts}
    others = [node for group in machine.groups for node in group.nodes if node not in given]
    chosen = choose_hosts(machine, number, nodes=ranks // each, exclude=others, seed=shuffle_seed(placement))
    return tuple(Host(host.name, each) for host in chosen), _OVER_NODES[number]


def placement_problem(machine: Machine, hosts: Sequence[Host], placement: str, ranks: int) -> str:
    """Why `ranks` ranks can't be placed in this way; empty if they can. UserError without hosts."""
    if category(placement) is None:
        return ""
    if not hosts:
        raise UserError(
            f"{placement} orders nodes, but this computer is a single node",
            "name a machine with several nodes, for example --on simgrid:four-groups-of-4, or another --placement",
        )
    try:
        chosen, _ = resolve_mapping(machine, hosts, placement, ranks)
    except UserError as error:
        return error.what
    names = [host.name for host in chosen]
    for host in chosen:
        if (host.slots or 1) > (cores := machine.group_of(host.name).cores):
            return f"{host.slots} ranks on {host.name} would share its {cores} cores"
    if machine.launcher == "slurm" and names != list(expand(fold(names))):
        return "srun uses nodes in the order of their names"
    return ""
