"""The JSON file that replaces the tree by which MPICH's CH4 composes collectives of smaller ones."""

from dataclasses import replace

from timpani.libraries.catalogue import Catalogue
from timpani.libraries.mpich.embedded_trees import EmbeddedTrees, embedded_trees
from timpani.libraries.mpich.selection_tree import Branch, Kind, Tree, choosing_nothing, dump, kind_of, leaves
from timpani.libraries.mpich.tree_file import TreeFile
from timpani.libraries.mpich.tree_with_rules import with_rules
from timpani.libraries.mpich.written_tree import sayable
from timpani.libraries.tuning_file import Written
from timpani.native.mpi import Mpi
from timpani.study.selection import SelectionTable


def write_compositions(table: SelectionTable, library: EmbeddedTrees, catalogue: Catalogue) -> Written:
    """The library's tree, which gives way where the selection tree has a rule. That tree's file names what is left out.

    CH4 asks this tree first: whether a call is composed of calls on the node and between nodes, or left to the network.
    A call for which it names nothing goes to the selection tree (MPID_Bcast and the like in ch4_coll.h of 4.0 to 5.0;
    ran on 4.0.2 and 5.0.2).
    """
    own_tree = library.trees["compositions"]
    pieces, _ = sayable(table, library, catalogue)
    changed = with_rules(own_tree, pieces)
    present = {branch.key.removeprefix("collective=") for branch in changed}
    tree = tuple(
        replace(each, below=_giving_way(each.below, next(leaves(own.below))))
        for own, each in zip(own_tree, changed, strict=True)
    )
    rules = tuple(each.rule for each in pieces if each.branch is not None and each.rule.collective in present)
    return Written(dump(tree), replace(table, rules=rules), ())


def _giving_way(tree: Tree, composition: Branch) -> Tree:
    """`tree` with nothing in the place of algorithms; `composition` is one of the collective's."""
    return tuple(
        choosing_nothing(composition)
        if each.key.startswith("algorithm=")
        else each
        if kind_of(each) == "compositions"
        else replace(each, below=_giving_way(each.below, composition))
        for each in tree
    )


class CompositionsFile(TreeFile):
    """Read at the start, like the selection tree, which is asked only for calls that this one leaves to it."""

    name = "mpich-compositions.json"
    title = "MPICH's tree of compositions"
    kind: Kind = "compositions"

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """The library's tree, after the table's rules; nothing is said where it holds none (CH3)."""
        return write_compositions(table, embedded_trees(mpi), catalogue)
