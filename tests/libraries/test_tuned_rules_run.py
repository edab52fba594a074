"""The installed Open MPI does what a file for coll/tuned says, from the first byte of a rule to its last."""

from pathlib import Path

import pytest

from tests.installed import every_open_mpi
from tests.libraries.counted import RANKS, bytes_sent
from timpani.libraries.openmpi.classic_rules import TunedRules
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import Rule, SelectionTable, Span

FILE = TunedRules()
TABLE = SelectionTable(
    "Open MPI",
    "any",
    (
        Rule("bcast", Algorithm("openmpi", "linear"), Span(RANKS, RANKS), sizes=Span(1024, 2047)),
        Rule("allgather", Algorithm("openmpi", "ring"), Span(RANKS, RANKS), sizes=Span(64, 127)),
    ),
)
BEFORE, FIRST, LAST, AFTER = 1023, 1024, 2047, 2048
EDGES = [("bcast", size) for size in (BEFORE, FIRST, LAST, AFTER)]


def counting(mpi: Mpi) -> None:
    if not LIBRARIES["openmpi"].algorithms.counting or LIBRARIES["openmpi"].algorithms.counting(mpi) is None:
        pytest.skip("may be skipped: this library was built without the component that counts messages")


@every_open_mpi
def test_rules_hold_from_their_first_byte_to_their_last(mpi: Mpi, tmp_path: Path) -> None:
    counting(mpi)
    catalogue = LIBRARIES["openmpi"].algorithms.catalogue(mpi)
    path = tmp_path / "a folder" / FILE.name
    path.parent.mkdir()
    path.write_text(FILE.write(TABLE, catalogue, mpi).text)
    switched_on = FILE.switch_on(path, path.read_text(), mpi)
    by_bytes = bytes_sent(mpi, tmp_path, EDGES, switched_on)
    # The library's choice is a binomial tree, in which rank 1 sends to rank 3.
    assert (by_bytes[0][3], by_bytes[1][3]) == (FIRST + LAST, BEFORE + AFTER)
    # Of blocks, where 4 × 64 B are compared; the library's choice sends two blocks to the rank after the next.
    by_blocks = bytes_sent(mpi, tmp_path, [("allgather", size) for size in (63, 64, 127, 128)], switched_on)
    assert (by_blocks[0][1], by_blocks[0][2]) == (63 + 128 + 3 * (64 + 127), 2 * (63 + 128))
