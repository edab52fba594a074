"""On several nodes Open MPI 5.0 does with two files what their table says, and everything else as it does without."""

from pathlib import Path

import pytest

from tests.installed import OPEN_MPIS, with_libraries
from tests.lab.conftest import Make, needs_lab
from tests.libraries.counted import RANKS, bytes_sent
from timpani.libraries.openmpi.classic_rules import TunedRules
from timpani.libraries.openmpi.han_rules import HanRules
from timpani.libraries.registry import LIBRARIES
from timpani.machine.launchers import lab_machine
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import Rule, SelectionTable, Span

WITH_HAN = [mpi for mpi in OPEN_MPIS if HanRules().is_read_by(mpi)]

pytestmark = [
    needs_lab,
    pytest.mark.needs(bool(WITH_HAN), "may be skipped: only Open MPI from 5.0 has HAN decide by default"),
]


@with_libraries(WITH_HAN)
def test_coll_han_delegates_calls_that_coll_tuned_has_rules_for(make: Make, mpi: Mpi, tmp_path: Path) -> None:
    machine = lab_machine(f"lab:{make('--nodes', '2', '--cores', '2').id}")
    here, nodes = Span(RANKS, RANKS), Span(2, 2)
    table = SelectionTable(
        "openmpi",
        mpi.version,
        (
            Rule("bcast", Algorithm("openmpi", "linear"), here, nodes, sizes=Span(1024, 2047)),
            Rule("allgather", Algorithm("openmpi", "ring"), here, nodes, sizes=Span(64, 127)),
        ),
    )
    switches = {}
    for file in (TunedRules(), HanRules()):
        (tmp_path / file.name).write_text(file.write(table, LIBRARIES[mpi.kind].algorithms.catalogue(mpi), mpi).text)
        switches[file.name] = file.switch_on(tmp_path / file.name, (tmp_path / file.name).read_text(), mpi)
    tuned, han = switches.values()

    def added(collective: str, first: int, sizes: tuple[int, ...], *parameters: tuple[str, str]) -> list[list[int]]:
        """Bytes sent in calls of `sizes` after the first, in which HAN makes its communicators."""
        before, after = (
            bytes_sent(mpi, tmp_path, [(collective, size) for size in calls], parameters, machine)
            for calls in ((first,), (first, *sizes))
        )
        return [[b - a for a, b in zip(*rows, strict=True)] for rows in zip(before, after, strict=True)]

    # HAN sends from node to node, and then on each node.
    alone = added("bcast", 1023, (1024, 2047, 2048), *tuned)
    assert (alone[0][3], alone[2][3]) == (0, 1024 + 2047 + 2048)
    both = added("bcast", 1023, (1024, 2047, 2048), *tuned, *han)
    assert (both[0][3], both[2][3]) == (1024 + 2047, 2048)
    gathered = added("allgather", 63, (64, 127, 128), *tuned, *han)
    for rank, row in enumerate(added("allgather", 63, (128,))):
        row[(rank + 1) % RANKS] += (RANKS - 1) * (64 + 127)
        assert gathered[rank] == row
