"""The JSON file that replaces the tree by which MPICH's CH4 composes collectives of smaller ones."""

from dataclasses import replace

from timpani.libraries.catalogue import Catalogue
from timpani.libraries.mpich.embedded_tree import EmbeddedTree, embedded_tree
from timpani.libraries.mpich.selection_tree import BEGINS, COMPOSITION, Branch, Tree, dump, is_composition, leaves
from timpani.libraries.mpich.tree_faults import Kind
from timpani.libraries.mpich.tree_file import TreeFile
from timpani.libraries.mpich.tree_with_rules import with_rules
from timpani.libraries.mpich.written_tree import sayable
from timpani.libraries.tuning_file import Written
from timpani.native.mpi import Mpi
from timpani.tuning.decide.selection_table import SelectionTable

_NEVER = "comm_type=inter"  # below `comm_type=intra`


def write_compositions(table: SelectionTable, library: EmbeddedTree, catalogue: Catalogue) -> Written:
    """The library's tree, which gives way where the selection tree has a rule. That tree's file names what is left out.

    CH4 asks this tree first: whether a call is composed of calls on the node and between nodes, or left to the network.
    A call for which it names nothing goes to the selection tree (MPID_Bcast and the like in ch4_coll.h of 4.0 to 5.0;
    ran on 4.0.2 and 5.0.2). Nothing can't be written: a branch must have something below it. So what stands there is
    asked of the communicators that it can't be: of two groups of ranks.
    """
    pieces, _ = sayable(table, library, catalogue)
    changed = with_rules(library.compositions, pieces)
    present = {branch.key.removeprefix("collective=") for branch in changed}
    tree = tuple(
        replace(each, below=_giving_way(each.below, next(leaves(own.below))))
        for own, each in zip(library.compositions, changed, strict=True)
    )
    rules = tuple(each.rule for each in pieces if each.branch is not None and each.rule.collective in present)
    return Written(dump(tree), replace(table, rules=rules), ())


def _giving_way(tree: Tree, composition: Branch) -> Tree:
    """`tree` with nothing in the place of algorithms; `composition` is one of the collective's."""
    return tuple(
        Branch(_NEVER, (composition,))
        if each.key.startswith("algorithm=")
        else each
        if is_composition(each)
        else replace(each, below=_giving_way(each.below, composition))
        for each in tree
    )


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
