"""PALS, HPE Cray's launcher: the hosts that a user, or a script around it, set for its mpiexec."""

from collections.abc import Mapping

from timpani.machine.batch.batch_system import Allocation, BatchSystem, hosts_of_file, slots_by_mention
from timpani.machine.nodes.node_set import expand

_LIST, _FILE = "PALS_HOSTLIST", "PALS_HOSTFILE"


def allocation(environment: Mapping[str, str]) -> Allocation | None:
    """From `PALS_HOSTLIST`, names with commas between them, else `PALS_HOSTFILE`, a line for each rank.

    A job without both has PBS's list, which PALS reads, too.
    """
    if environment.get(_LIST):
        return slots_by_mention(((host, 1) for host in _names(environment[_LIST])), _LIST)
    return hosts_of_file(environment, _FILE) if environment.get(_FILE) else None


def _names(text: str) -> list[str]:
    """The names, repeated as often as they are there; `expand` would name each once."""
    return text.split(",") if "[" not in text else list(expand(text))


SYSTEM = BatchSystem(kind="pals", name="PALS", allocation=allocation, queue_variables=("PBS_QUEUE",))
