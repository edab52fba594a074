"""A selection table written into MPICH's own tree: only collectives that have rules change, and only where they apply.

Within one, the tree asks first what rules know nothing of, operators and buffers, and leaves to the library's branches
all but what is measured: built-in operators, buffers of their own, equal blocks. Then ranks, nodes, and sizes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.mpich.conditions import ASKED_OF, LARGEST, is_of_the_call, limit
from timpani.libraries.mpich.embedded_tree import EmbeddedTree
from timpani.libraries.mpich.selection_tree import Branch, Tree, below, dump, is_algorithm
from timpani.libraries.mpich.tree_algorithms import IN_PLACE, guarded, leaf, library_name, where_it_serves
from timpani.libraries.tuning_file import LeftOut, Written
from timpani.tuning.spans import cut_up, overlap
from timpani.tuning.table import ALL, Rule, SelectionTable, Span

_ONE_NODE, _SEVERAL_NODES = Span(1, 1), Span(2)
_SIZED = {
    **dict.fromkeys(("bcast", "reduce", "allreduce", "alltoall"), "avg_msg_size"),
    **dict.fromkeys(("allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block"), "total_msg_size"),
}
"""What holds the same bytes on all ranks. Left out: gather and scatter, where it counts elements, and of arguments that
are not significant on every rank; alltoallv, where each rank adds up its own."""
_TIMES_RANKS = ("allgather", "allgatherv", "reduce_scatter_block")
"""Collectives whose total is our size times the ranks: each number of ranks has limits of its own."""
_MOST_RANK_COUNTS = 256

_MEASURED = ("is_sendbuf_inplace=no", "is_commutative=yes", "is_op_built_in=yes", "is_block_regular=yes")


@dataclass(frozen=True)
class Piece:
    """A rule that the tree can say, and the branch that names its algorithm; None: the library's own choice."""

    rule: Rule
    branch: Branch | None


def write_tree(table: SelectionTable, library: EmbeddedTree, catalogue: Catalogue) -> Written:
    """The tree that says `table`."""
    pieces, left_out = sayable(table, library, catalogue)
    said = replace(table, rules=tuple(each.rule for each in pieces))
    return Written(dump(with_rules(library.tree, pieces)), said, tuple(left_out))


def sayable(table: SelectionTable, library: EmbeddedTree, catalogue: Catalogue) -> tuple[list[Piece], list[LeftOut]]:
    """The rules as the tree can say them, and what it can't."""
    pieces: list[Piece] = []
    left_out: list[LeftOut] = []
    for rule in table.rules:
        found, why = _sayable(rule, table.rules, library, catalogue)
        pieces += found
        left_out += (LeftOut(rule, each) for each in why)
    return pieces, left_out


def with_rules(tree: Tree, pieces: Sequence[Piece]) -> Tree:
    """`tree`, of all collectives, with what `pieces` say."""
    return tuple(
        replace(branch, below=_with_rules(collective, branch.below, own_pieces))
        if (own_pieces := [each for each in pieces if each.rule.collective == collective])
        else branch
        for branch in tree
        for collective in (branch.key.removeprefix("collective="),)
    )


def _sayable(
    rule: Rule, rules: Iterable[Rule], library: EmbeddedTree, catalogue: Catalogue
) -> tuple[list[Piece], list[str]]:
    """The rule as the tree can say it, and in words what it can't."""
    collective = rule.collective
    if not below(library.tree, f"collective={collective}"):
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
        branch, name = named, library_name(info)
    if name == IN_PLACE:
        return [], ["it serves calls in place only, which aren't measured"]
    if (collective, name) == ("scan", "smp"):
        return [], ["it serves commutative operators only, which the tree can't ask of a scan"]
    if why := _beyond(rule):
        return [], [why]
    if any(_by_nodes_alone(rule, other) for other in rules):
        return [], ["another rule differs by nodes alone, which the tree can't count"]
    lacking: list[str] = []
    placed = _placed(rule, lacking)
    usual = {} if info is None else {each.name: each.default for each in info.parameters}
    asked = tuple((key, value) for key, value in rule.algorithm.parameters if usual.get(key) != value)
    serving = list(where_it_serves(replace(placed, algorithm=replace(rule.algorithm, parameters=asked)), name))
    if [(each.ranks, each.sizes, each.per_node) for each in serving] != [(placed.ranks, placed.sizes, placed.per_node)]:
        lacking.append(f"{name} serves fewer calls: it is named for those alone")
    return [Piece(each, branch) for each in serving], lacking


def _beyond(rule: Rule) -> str:
    """Which of the rule's limits the tree can't write, in words."""
    ranks, sizes = rule.ranks, rule.sizes
    if rule.collective not in _SIZED:
        return f"the tree can't ask the size of a {rule.collective} safely" if sizes != ALL else ""
    times = 1
    if rule.collective in _TIMES_RANKS and sizes != ALL:
        if ranks.last is None or ranks.last - ranks.first >= _MOST_RANK_COUNTS:
            return "the tree asks for the bytes of all ranks, which takes a branch for each number of ranks"
        times = ranks.last
    edges = (ranks.first, ranks.last or 0, sizes.first * times, (sizes.last or 0) * times)
    return f"the tree's limits end at {LARGEST}" if max(edges) > LARGEST else ""


def _by_nodes_alone(rule: Rule, other: Rule) -> bool:
    """Whether calls of both differ in how ranks are spread over nodes, but for one node or several."""
    alike = (
        rule.collective == other.collective and overlap(rule.ranks, other.ranks) and overlap(rule.sizes, other.sizes)
    )
    spread = (rule.nodes, rule.per_node) != (other.nodes, other.per_node)
    one = _ONE_NODE in (rule.nodes, other.nodes) and not overlap(rule.nodes, other.nodes)
    return alike and spread and not one and rule.algorithm != other.algorithm


def _placed(rule: Rule, lacking: list[str]) -> Rule:
    """The rule with what the tree can say of nodes: one, or several."""
    if rule.nodes == _ONE_NODE:
        ranks = Span(max(rule.ranks.first, 2), rule.ranks.last)
        ends = rule.per_node.last
        if rule.per_node.first > ranks.first or (ends is not None and (ranks.last is None or ends < ranks.last)):
            lacking.append("the tree can't ask for ranks per node")
        return replace(rule, ranks=ranks, per_node=ALL)
    nodes = _SEVERAL_NODES if rule.nodes.first > 1 else ALL
    if rule.nodes != nodes:
        lacking.append(
            "the tree can't count nodes: " + ("it asks for more than one" if nodes != ALL else "it asks none")
        )
    if rule.per_node != ALL:
        lacking.append("the tree can't ask for ranks per node")
    return replace(rule, nodes=nodes, per_node=ALL)


def _with_rules(collective: str, own: Tree, pieces: list[Piece]) -> Tree:
    """The collective's branches with rules: for communicators within one group of ranks, as all measured ones are."""
    within = below(own, "comm_type=intra") or own
    otherwise = _as_searched(within, False)
    chosen = _by_ranks(collective, otherwise, pieces)
    for key in reversed(_MEASURED):
        quantity, _, value = key.partition("=")
        if collective in ASKED_OF[quantity]:
            other = "no" if value == "yes" else "yes"
            chosen = (Branch(key, chosen), Branch(f"{quantity}={other}", otherwise))
    if within is own:
        return chosen
    return tuple(replace(each, below=chosen) if each.key == "comm_type=intra" else each for each in own)


def _as_searched(tree: Tree, after_call: bool) -> Tree:
    """The same choices wherever it is put: `comm_size<8` means 7 at most, or 8 below a condition on the call."""
    found = []
    for branch in tree:
        asked = limit(branch.key)
        key = branch.key
        if asked and asked[0] == "comm_size":
            key = f"comm_size<={asked[1] + (after_call and '<=' not in key)}"
        deeper = branch.below
        if not is_algorithm(branch):
            deeper = _as_searched(deeper, after_call or is_of_the_call(branch.key))
        found.append(Branch(key, deeper))
        after_call = after_call or is_of_the_call(branch.key)  # those after it are reached through it
    return tuple(found)


def _by_ranks(collective: str, otherwise: Tree, pieces: list[Piece]) -> Tree:
    found: dict[str, Tree] = {}
    for ranks in cut_up([each.rule.ranks for each in pieces], Span(1)):
        here = [each for each in pieces if ranks.first in each.rule.ranks]
        each_count = collective in _TIMES_RANKS and any(piece.rule.sizes != ALL for piece in here)
        counts = [Span(count, count) for count in _counts(ranks)] if each_count else [ranks]
        for count in counts:
            times = count.first if each_count else 1
            found[_key("comm_size", count, 1)] = _by_nodes(collective, otherwise, here, times)
    return _chain(found)


def _counts(ranks: Span) -> range:
    return range(ranks.first, (ranks.last or ranks.first) + 1)


def _by_nodes(collective: str, otherwise: Tree, pieces: list[Piece], times: int) -> Tree:
    if all(each.rule.nodes == ALL for each in pieces):
        return _by_size(collective, otherwise, pieces, times)
    one, several = (
        _by_size(collective, otherwise, [each for each in pieces if each.rule.nodes in (ALL, nodes)], times)
        for nodes in (_ONE_NODE, _SEVERAL_NODES)
    )
    return (Branch("comm_size=node_comm_size", one), Branch("comm_size=any", several))


def _by_size(collective: str, otherwise: Tree, pieces: list[Piece], times: int) -> Tree:
    found = {}
    for sizes in cut_up([each.rule.sizes for each in pieces], ALL):
        piece = next((each for each in pieces if sizes.first in each.rule.sizes), None)
        branch = piece.branch if piece else None
        chosen = otherwise if branch is None else guarded(collective, branch, otherwise)
        found[_key(_SIZED.get(collective, ""), sizes, times)] = chosen
    return _chain(found)


def _key(quantity: str, span: Span, times: int) -> str:
    return f"{quantity}=any" if span.last is None else f"{quantity}<={span.last * times}"


def _chain(found: Mapping[str, Tree]) -> Tree:
    """Branches in order, of neighbours with the same below them the last; none where that is all."""
    items = list(found.items())
    kept = [item for item, after in zip(items, [*items[1:], None], strict=True) if after is None or after[1] != item[1]]
    return kept[0][1] if len(kept) == 1 else tuple(Branch(key, chosen) for key, chosen in kept)
