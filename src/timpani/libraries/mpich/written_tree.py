"""A selection table written into MPICH's own tree, and what of it the tree can't say."""

from collections.abc import Iterable
from dataclasses import replace

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.mpich.algorithms import IN_PLACE
from timpani.libraries.mpich.embedded_trees import EmbeddedTrees
from timpani.libraries.mpich.selection_tree import below, dump
from timpani.libraries.mpich.tree_algorithms import leaf, supported_calls
from timpani.libraries.mpich.tree_with_rules import ONE_NODE, SEVERAL_NODES, SIZED, TIMES_RANKS, Piece, with_rules
from timpani.libraries.tuning_file import LeftOut, Written, differ_by_nodes, rank_counts
from timpani.study.selection import ALL, Rule, SelectionTable, Span, overlap
from timpani.study.sizes import LARGEST


def write_tree(table: SelectionTable, library: EmbeddedTrees, catalogue: Catalogue) -> Written:
    """The tree that says `table`."""
    pieces, left_out = sayable(table, library, catalogue)
    said = replace(table, rules=tuple(each.rule for each in pieces))
    return Written(dump(with_rules(library.trees["algorithms"], pieces)), said, tuple(left_out))


def sayable(table: SelectionTable, library: EmbeddedTrees, catalogue: Catalogue) -> tuple[list[Piece], list[LeftOut]]:
    """The rules as the tree can say them, and what it can't."""
    pieces: list[Piece] = []
    left_out: list[LeftOut] = []
    for rule in table.rules:
        found, why = _sayable(rule, table.rules, library, catalogue)
        pieces += found
        left_out += (LeftOut(rule, each) for each in why)
    return pieces, left_out


def _sayable(
    rule: Rule, rules: Iterable[Rule], library: EmbeddedTrees, catalogue: Catalogue
) -> tuple[list[Piece], list[str]]:
    """The rule as the tree can say it, and in words what it can't."""
    collective = rule.collective
    if not below(library.trees["algorithms"], f"collective={collective}"):
        return [], [f"the library's selection tree has no {collective}"]
    try:
        info = catalogue.info(collective, rule.algorithm)
    except UserError as error:
        return [], [error.what]
    branch, name = None, ""
    if info is not None:
        named = leaf(collective, rule.algorithm, info, library)
        if isinstance(named, str):
            return [], [named]
        branch, name = named, info.library_name
    if name == IN_PLACE:
        return [], ["it runs calls in place only, which aren't measured"]
    if (collective, name) == ("scan", "smp"):
        return [], ["it runs commutative operators only, which is no condition that the tree has for a scan"]
    if why := beyond_limits(rule):
        return [], [why]
    if any(_by_nodes_alone(rule, other) for other in rules):
        return [], ["another rule differs only in its nodes, which the tree can't count"]
    lacking: list[str] = []
    placed = _placed(rule, lacking)
    usual = {} if info is None else {each.name: each.default for each in info.parameters}
    asked = tuple((key, value) for key, value in rule.algorithm.parameters if usual.get(key) != value)
    serving = list(supported_calls(replace(placed, algorithm=replace(rule.algorithm, parameters=asked)), name))
    if [(each.ranks, each.sizes, each.per_node) for each in serving] != [(placed.ranks, placed.sizes, placed.per_node)]:
        lacking.append(f"{name} runs fewer calls than the rule covers: the tree names it only for these calls")
    return [Piece(each, branch) for each in serving], lacking


def beyond_limits(rule: Rule) -> str:
    """Which of the rule's limits a tree can't write, in words; nothing where it can."""
    ranks, sizes = rule.ranks, rule.sizes
    if rule.collective not in SIZED:
        return f"the tree can't ask the size of a {rule.collective} safely" if sizes != ALL else ""
    times = 1
    if rule.collective in TIMES_RANKS and sizes != ALL:
        counts = rank_counts(ranks)
        if counts is None:
            return "the tree asks for the bytes of all ranks, which takes a branch for each number of ranks"
        times = counts.stop - 1
    edges = (ranks.first, ranks.last or 0, sizes.first * times, (sizes.last or 0) * times)
    return f"the tree's limits end at {LARGEST}" if max(edges) > LARGEST else ""


def _by_nodes_alone(rule: Rule, other: Rule) -> bool:
    """Whether both choose differently by where the ranks are, but for one node or several."""
    one = ONE_NODE in (rule.nodes, other.nodes) and not overlap(rule.nodes, other.nodes)
    return differ_by_nodes(rule, other) and not one


def _placed(rule: Rule, lacking: list[str]) -> Rule:
    """The rule with what the tree can say of nodes: one, or several."""
    if rule.nodes == ONE_NODE:
        ranks = Span(max(rule.ranks.first, 2), rule.ranks.last)
        ends = rule.per_node.last
        if rule.per_node.first > ranks.first or (ends is not None and (ranks.last is None or ends < ranks.last)):
            lacking.append("the tree can't ask for ranks per node")
        return replace(rule, ranks=ranks, per_node=ALL)
    nodes = SEVERAL_NODES if rule.nodes.first > 1 else ALL
    if rule.nodes != nodes:
        lacking.append(
            "the tree can't count nodes: " + ("it asks for more than one" if nodes != ALL else "it asks none")
        )
    if rule.per_node != ALL:
        lacking.append("the tree can't ask for ranks per node")
    return replace(rule, nodes=nodes, per_node=ALL)
