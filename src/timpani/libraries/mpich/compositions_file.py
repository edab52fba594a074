"""The JSON file that replaces the tree by which MPICH's CH4 composes collectives of smaller ones."""

from timpani.libraries.catalogue import Catalogue
from timpani.libraries.mpich.embedded_tree import EmbeddedTree, embedded_tree
from timpani.libraries.mpich.selection_tree import BEGINS, COMPOSITION
from timpani.libraries.mpich.tree_faults import Kind
from timpani.libraries.mpich.tree_file import TreeFile
from timpani.libraries.mpich.written_compositions import write_compositions
from timpani.libraries.tuning_file import Written
from timpani.native.mpi import Mpi
from timpani.tuning.decide.selection_table import SelectionTable


class CompositionsFile(TreeFile):
    """Read at the start, like the selection tree, which is asked only for calls that this one leaves to it."""

    name = "mpich-compositions.json"
    title = "MPICH's tree of compositions"
    variable = "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE"
    kind: Kind = "compositions"

    def recognizes(self, text: str) -> bool:
        """It begins with a collective's branch, and names compositions."""
        return BEGINS.match(text) is not None and COMPOSITION in text

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """The library's tree, after the table's rules; nothing is said where it holds none (CH3)."""
        return write_compositions(table, embedded_tree(mpi), catalogue)

    def embedded(self, mpi: Mpi) -> EmbeddedTree:
        """The tree of compositions, which chooses none for the calls that it leaves to the selection tree."""
        return embedded_tree(mpi).of_compositions
