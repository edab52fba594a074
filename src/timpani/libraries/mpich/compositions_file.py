"""The JSON file that replaces the tree by which MPICH's CH4 composes collectives of smaller ones."""

from collections.abc import Iterator
from pathlib import Path

from timpani.libraries.catalogue import Catalogue
from timpani.libraries.launch_request import Parameters
from timpani.libraries.mpich.embedded_tree import embedded_tree
from timpani.libraries.mpich.selection_tree import BEGINS, COMPOSITION
from timpani.libraries.mpich.tree_file import TreeChoice, checked, linted
from timpani.libraries.mpich.written_compositions import write_compositions
from timpani.libraries.tuning_file import Fault, Written
from timpani.native.mpi import Mpi
from timpani.tuning.decide.selection_table import SelectionTable


class CompositionsFile:
    """Read at the start, like the selection tree, which is asked only for calls that this one leaves to it."""

    name = "mpich-compositions.json"
    title = "MPICH's tree of compositions"

    def serves(self, mpi: Mpi) -> bool:
        """Trees came with MPICH 4."""
        return mpi.numbers >= (4,)

    def recognises(self, text: str) -> bool:
        """It begins with a collective's branch, and names compositions."""
        return BEGINS.match(text) is not None and COMPOSITION in text

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """The library's tree, after the table's rules; nothing is said where it holds none (CH3)."""
        return write_compositions(table, embedded_tree(mpi), catalogue)

    def read(self, text: str, catalogue: Catalogue) -> TreeChoice:
        """Which composition `text` chooses, None where the selection tree does; UserError where the library would end
        the program."""
        return TreeChoice(checked(text, "compositions"), catalogue)

    def default(self, catalogue: Catalogue, mpi: Mpi) -> TreeChoice:
        """By the library's tree."""
        return TreeChoice(embedded_tree(mpi).compositions, catalogue)

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """All that is wrong with it for this library."""
        yield from linted(text, embedded_tree(mpi).of_compositions, "compositions")

    def switch_on(self, path: Path, text: str, mpi: Mpi) -> Parameters:
        """The file."""
        return (("MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE", str(path.absolute())),)
