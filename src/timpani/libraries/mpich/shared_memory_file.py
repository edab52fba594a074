"""The JSON file that replaces the tree by which MPICH's POSIX device chooses algorithms in shared memory."""

from collections.abc import Iterator

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.mpich.embedded_tree import embedded_tree
from timpani.libraries.mpich.selection_tree import BEGINS, COMPOSITION, SHARED_MEMORY
from timpani.libraries.mpich.tree_file import TreeChoice, linted
from timpani.libraries.tuning_file import Fault
from timpani.native.mpi import Mpi


class SharedMemoryFile:
    """Read at the start; asked only for the part of a collective inside a node, where a composition asks it."""

    title = "MPICH's tree of shared memory, for MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE"

    def serves(self, mpi: Mpi) -> bool:
        """Trees came with MPICH 4."""
        return mpi.numbers >= (4,)

    def recognises(self, text: str) -> bool:
        """It begins with a collective's branch, and names algorithms in shared memory."""
        return BEGINS.match(text) is not None and COMPOSITION not in text and SHARED_MEMORY in text

    def read(self, text: str, catalogue: Catalogue) -> TreeChoice:
        """Always a UserError: the file chooses for parts of collectives, which no call shows."""
        raise UserError(
            "this tree chooses algorithms for the parts of a collective inside a node, not for whole calls",
            "`timpani tune lint` checks it",
        )

    def default(self, catalogue: Catalogue, mpi: Mpi) -> None:
        """None, for the same reason."""

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """All that is wrong with it for this library."""
        yield from linted(text, embedded_tree(mpi).of_shared_memory, "shared memory")
