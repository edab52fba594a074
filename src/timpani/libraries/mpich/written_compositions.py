"""MPICH's tree of compositions, made to give way where the selection tree has a rule, and only there.

CH4 asks it before the selection tree: whether a call is composed of calls on the node and between nodes, or left to the
network. A call for which it names nothing goes to the selection tree (MPID_Bcast and the like in ch4_coll.h of 4.0 to
5.0; ran on 4.0.2 and 5.0.2). Nothing can't be written: a branch must have something below it. So what stands there is
asked of the communicators that it can't be: of two groups of ranks.
"""

from dataclasses import replace

from timpani.libraries.catalogue import Catalogue
from timpani.libraries.mpich.embedded_tree import EmbeddedTree
from timpani.libraries.mpich.selection_tree import Branch, Tree, dump, is_composition, leaves
from timpani.libraries.mpich.tree_with_rules import with_rules
from timpani.libraries.mpich.written_tree import sayable
from timpani.libraries.tuning_file import Written
from timpani.tuning.decide.selection_table import SelectionTable

_NEVER = "comm_type=inter"  # below `comm_type=intra`


def write_compositions(table: SelectionTable, library: EmbeddedTree, catalogue: Catalogue) -> Written:
    """The tree that lets calls with a rule of `table` through. What trees can't say the selection tree's file names."""
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
