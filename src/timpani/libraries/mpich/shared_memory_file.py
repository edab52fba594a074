"""The JSON file that replaces the tree by which MPICH's POSIX device chooses algorithms in shared memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.mpich.embedded_trees import EmbeddedTrees, embedded_trees
from timpani.libraries.mpich.node_algorithms import MESSAGES, PREFIX, RELEASE_GATHER, is_of_node
from timpani.libraries.mpich.selection_tree import SHARED_MEMORY, Branch, Kind, Tree, below, choosing_nothing, dump
from timpani.libraries.mpich.tree_file import TreeFile, checked, reached_leaf
from timpani.libraries.mpich.tree_with_rules import ONE_NODE, Piece, with_rules
from timpani.libraries.mpich.written_tree import beyond_limits
from timpani.libraries.tuning_file import Fault, LeftOut, Written, share_calls
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Call, Rule, SelectionTable, common_part


@dataclass(frozen=True)
class NodePartChoice:
    """What MPICH chooses by a tree of shared memory for the part of a call on one node.

    Calls are as `TreeChoice` takes them, and in programs that initialize MPI without threads.
    """

    tree: Tree
    provider: str

    def decide(self, call: Call) -> Algorithm | None:
        """The algorithm of the part on the node with most ranks; None if no ranks share a node, and for collectives
        that the device does not choose for."""
        if call.per_node < 2 or not below(self.tree, f"collective={call.collective}"):
            return None
        part = Call(call.collective, call.per_node, 1, call.per_node, call.message_bytes)
        value = RELEASE_GATHER if reached_leaf(self.tree, part) else MESSAGES
        return Algorithm(self.provider, f"{PREFIX}{value}")


class SharedMemoryFile(TreeFile):
    """Read at the start; asked only for the part of a collective on a node, where a composition asks it."""

    name = "mpich-shared-memory.json"
    title = "MPICH's tree of shared memory, for the part of a collective on a node"
    kind: Kind = "shared memory"

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """The library's tree with the table's rules for parts on nodes; no rule is said where it never reads it."""
        return write_node_tree(table, embedded_trees(mpi), catalogue)

    def read(self, text: str, catalogue: Catalogue) -> NodePartChoice:
        """What `text` chooses; UserError where the library would end the program, or never reads such a file."""
        if not any(is_of_node(info.name) for info in catalogue):
            raise UserError(
                f"{catalogue.title} was built without modules for shared memory: it never reads this file",
                "name another build of the library with --mpi",
            )
        return NodePartChoice(checked(text, self.kind), catalogue.provider)

    def default(self, catalogue: Catalogue, mpi: Mpi) -> NodePartChoice:
        """By the library's tree."""
        return NodePartChoice(embedded_trees(mpi).trees[self.kind], catalogue.provider)

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """All that is wrong with it for this library."""
        if not embedded_trees(mpi).choices[self.kind]:
            what = f"{mpi.name} {mpi.version} was built without modules for shared memory"
            yield Fault("error", None, what, "it never reads this file", "use another build of the library")
            return
        yield from super().lint(text, catalogue, mpi)


def write_node_tree(table: SelectionTable, library: EmbeddedTrees, catalogue: Catalogue) -> Written:
    """The tree that says the rules of `table` for parts on nodes. The selection tree's file names all other rules.

    The device asks this tree for a communicator of the node's ranks. So a rule's ranks per node become the tree's
    `comm_size`, and the number of nodes can't be asked. Messages, which the tree has no name for, are what the library
    falls back to where it chooses nothing.
    """
    reads = bool(library.choices["shared memory"])
    rules = [rule for rule in table.rules if reads and is_of_node(rule.algorithm.name)]
    parts = [(rule, _part_on_node(rule)) for rule in rules]
    pieces: list[Piece] = []
    said: list[Rule] = []
    left_out: list[LeftOut] = []
    for rule, part in parts:
        why = _unsayable(part, library, catalogue) or (
            "it differs by nodes from another rule" if _disputed(part, [other for _, other in parts]) else ""
        )
        if why or part is None:
            left_out.append(LeftOut(rule, why))
            continue
        pieces.append(Piece(part, _branch(part)))
        said.append(replace(part, ranks=ALL, per_node=part.ranks))
        if rule.nodes != ALL:
            left_out.append(LeftOut(rule, "the tree can't count nodes: it holds for the part on each node"))
    tree = with_rules(library.trees["shared memory"], pieces)
    return Written(dump(tree), replace(table, rules=tuple(said)), tuple(left_out))


def _part_on_node(rule: Rule) -> Rule | None:
    """The rule for the communicator of a node's ranks; None if the rule doesn't show how many these are."""
    ranks = common_part(rule.ranks, rule.per_node) if rule.nodes == ONE_NODE else rule.per_node
    return None if ranks is None or ranks == ALL else replace(rule, ranks=ranks, nodes=ALL, per_node=ALL)


def _unsayable(part: Rule | None, library: EmbeddedTrees, catalogue: Catalogue) -> str:
    """Why the tree can't say the part on a node, in words; nothing where it can."""
    if part is None:
        return "the number of ranks on a node is unknown"
    if not below(library.trees["shared memory"], f"collective={part.collective}"):
        return f"the library's tree of shared memory has no {part.collective}"
    try:
        catalogue.info(part.collective, part.algorithm)
    except UserError as error:
        return error.what
    return beyond_limits(part)


def _disputed(part: Rule | None, others: list[Rule | None]) -> bool:
    """Whether another rule chooses another algorithm for the same part."""
    return part is not None and any(
        other is not None and share_calls(part, other) and other.algorithm != part.algorithm for other in others
    )


def _branch(part: Rule) -> Branch:
    algorithm = Branch(f"{SHARED_MEMORY}mpi_{part.collective}_release_gather")
    return choosing_nothing(algorithm) if part.algorithm.name == f"{PREFIX}{MESSAGES}" else algorithm
