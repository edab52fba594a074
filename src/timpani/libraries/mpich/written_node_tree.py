"""MPICH's tree of shared memory with rules in it: how the ranks of a node do their part of a collective.

The device asks this tree for a communicator of the node's ranks. So a rule's ranks per node become the tree's
`comm_size`, and the number of nodes can't be asked. Messages, which the tree has no name for, are what the library
falls back to where it names nothing: as in `written_compositions.py`, an algorithm stands below a condition that never
holds.
"""

from dataclasses import replace

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.mpich.embedded_tree import EmbeddedTree
from timpani.libraries.mpich.node_algorithms import MESSAGES, PREFIX, is_of_node
from timpani.libraries.mpich.selection_tree import SHARED_MEMORY, Branch, below, dump
from timpani.libraries.mpich.tree_with_rules import ONE_NODE, Piece, with_rules
from timpani.libraries.mpich.written_tree import beyond_limits
from timpani.libraries.tuning_file import LeftOut, Written
from timpani.tuning.decide.selection_table import ALL, Rule, SelectionTable
from timpani.tuning.decide.spans import common_part, overlap

_NEVER = "comm_type=inter"  # below `comm_type=intra`


def write_node_tree(table: SelectionTable, library: EmbeddedTree, catalogue: Catalogue) -> Written:
    """The tree that says the rules of `table` for parts on nodes. The selection tree's file names all other rules."""
    rules = [rule for rule in table.rules if is_of_node(rule.algorithm.name)] if library.shared else []
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
    tree = with_rules(library.of_node, pieces)
    return Written(dump(tree), replace(table, rules=tuple(said)), tuple(left_out))


def _part_on_node(rule: Rule) -> Rule | None:
    """The rule for the communicator of a node's ranks; None if the rule doesn't show how many these are."""
    ranks = common_part(rule.ranks, rule.per_node) if rule.nodes == ONE_NODE else rule.per_node
    return None if ranks is None or ranks == ALL else replace(rule, ranks=ranks, nodes=ALL, per_node=ALL)


def _unsayable(part: Rule | None, library: EmbeddedTree, catalogue: Catalogue) -> str:
    """Why the tree can't say the part on a node, in words; nothing where it can."""
    if part is None:
        return "the number of ranks on a node is unknown"
    if not below(library.of_node, f"collective={part.collective}"):
        return f"the library's tree of shared memory has no {part.collective}"
    try:
        catalogue.info(part.collective, part.algorithm)
    except UserError as error:
        return error.what
    return beyond_limits(part)


def _disputed(part: Rule | None, others: list[Rule | None]) -> bool:
    """Whether another rule chooses another algorithm for the same part."""
    return part is not None and any(
        other is not None
        and other.collective == part.collective
        and other.algorithm != part.algorithm
        and overlap(other.ranks, part.ranks)
        and overlap(other.sizes, part.sizes)
        for other in others
    )


def _branch(part: Rule) -> Branch:
    algorithm = Branch(f"{SHARED_MEMORY}mpi_{part.collective}_release_gather")
    return Branch(_NEVER, (algorithm,)) if part.algorithm.name == f"{PREFIX}{MESSAGES}" else algorithm
