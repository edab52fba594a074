"""The JSON files that replace MPICH's selection tree and the tree by which CH4 composes collectives of others."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from timpani.libraries.catalogue import Catalogue, Parameters
from timpani.libraries.mpich.embedded_trees import EmbeddedTrees, algorithm_of, embedded_trees
from timpani.libraries.mpich.selection_tree import (
    VARIABLES,
    Branch,
    Kind,
    Tree,
    TreeError,
    below,
    choosing_nothing,
    dump,
    holds,
    is_algorithm,
    is_of_the_call,
    kind_of,
    kind_of_text,
    leaves,
    parse,
)
from timpani.libraries.mpich.tree_faults import faults
from timpani.libraries.mpich.written_tree import sayable, with_rules, write_tree
from timpani.libraries.tuning_file import Fault, FileDecisions, TuningFile, Written, refuse_errors
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import Call, SelectionTable


@dataclass(frozen=True)
class TreeChoice:
    """What MPICH chooses by a tree. The tree is whole: it names what the library chooses where no rule applies, too.

    A call is taken as it is measured: with a built-in operator, separate buffers, equal blocks of one-byte elements,
    and ranks that follow each other from node to node.
    """

    tree: Tree
    catalogue: Catalogue

    def decide(self, call: Call) -> Algorithm | None:
        """The algorithm that the tree names; None where it names none, and the library ends the program."""
        leaf = reached_leaf(self.tree, call)
        return algorithm_of(leaf, self.catalogue) if leaf else None


def reached_leaf(tree: Tree, call: Call) -> Branch | None:
    """The branch with the algorithm for `call`; None where the tree names nothing for it."""
    tree, after_call = below(tree, f"collective={call.collective}"), False
    while tree:
        for branch in tree:
            if is_algorithm(branch):
                return branch
            if holds(branch.key, call, after_call):
                after_call = after_call or is_of_the_call(branch.key)
                tree = branch.below
                break
            after_call = after_call or is_of_the_call(branch.key)
        else:
            return None
    return None


class TreeFile(TuningFile):
    """MPICH 4 and 5 read it when they start."""

    name = "mpich-selection.json"
    title = "MPICH's selection tree"
    since = (4,)
    kind: Kind = "algorithms"
    """What the leaves of the tree name."""

    def recognizes(self, text: str) -> bool:
        """It begins with a collective's branch, and names what a tree of this kind chooses among."""
        return kind_of_text(text) == self.kind

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """The library's tree with the table's rules in it. UserError where the library holds none."""
        return write_tree(table, embedded_trees(mpi), catalogue)

    def read(self, text: str, catalogue: Catalogue) -> FileDecisions:
        """What `text` chooses; UserError where the library would end the program."""
        return TreeChoice(checked(text, self.kind), catalogue)

    def default(self, catalogue: Catalogue, mpi: Mpi) -> FileDecisions:
        """By the library's tree."""
        return TreeChoice(embedded_trees(mpi).trees[self.kind], catalogue)

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """All that is wrong with it for this library."""
        yield from linted(text, embedded_trees(mpi), self.kind)

    def switch_on(self, path: Path, text: str, mpi: Mpi) -> Parameters:
        """The file. The tree of compositions, which is asked before, must let calls through: see CompositionsFile."""
        return ((VARIABLES[self.kind], str(path.absolute())),)


def checked(text: str, kind: Kind) -> Tree:
    """The tree in `text`; UserError where the library would end the program."""
    tree = parse(text)
    refuse_errors(faults(tree, None, kind))
    return tree


def linted(text: str, library: EmbeddedTrees, kind: Kind) -> Iterator[Fault]:
    """All that is wrong with a tree for `library`."""
    try:
        tree = parse(text)
    except TreeError as error:
        consequence = "MPI_Init ends with a failed assertion, or a segmentation fault"
        yield Fault("error", error.line, error.problem, consequence, error.next_step)
        return
    yield from faults(tree, library, kind)


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
