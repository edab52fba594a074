"""Grid Engine (SGE, Altair's, Open): the nodes of a job in a parallel environment."""

from collections.abc import Iterator, Mapping

from timpani.errors import UserError
from timpani.machine.batch.batch_system import Allocation, BatchSystem, lines_of, positive_count, slots_by_mention

_NODES = "PE_HOSTFILE"


def allocation(environment: Mapping[str, str]) -> Allocation | None:
    """From lines of `host slots queue processors`; a host that several queues give slots has all of them."""
    return slots_by_mention(_mentions(environment[_NODES]), _NODES) if _NODES in environment else None


def _mentions(path: str) -> Iterator[tuple[str, int]]:
    for line in lines_of(path, _NODES):
        words = line.split()
        if len(words) < 2:
            raise UserError(f"{_NODES}: {line!r} has no slots", f"run inside a job, or unset {_NODES}")
        yield words[0], positive_count(words[1], _NODES)


SYSTEM = BatchSystem(kind="sge", name="Grid Engine", allocation=allocation, queue_variables=("QUEUE",))
