"""A selection table written into MPICH's own tree, so that calls are asked little, and what the tree can't say.

When a communicator is made, the library follows the tree's conditions on communicators down to the first on a call;
from there on it asks again at each call (`prune_tree` and `MPIR_Csel_search` in src/mpi/coll/src/csel.c). So ranks and
nodes come first, the rules' and the library's, then sizes, then what rules know nothing of: operators and buffers,
which are asked where a rule is. A condition on the size is 16 instructions in either of two trees (4.0.2), and a
broadcast of a few bytes takes 0.15 µs.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from timpani.errors import UserError
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.mpich.algorithms import IN_PLACE
from timpani.libraries.mpich.embedded_trees import EmbeddedTrees, guarded, leaf, supported_calls
from timpani.libraries.mpich.selection_tree import (
    ASKED_OF,
    MEASURED,
    OTHER_VALUE,
    Branch,
    Tree,
    below,
    dump,
    is_algorithm,
    is_any,
    is_of_the_call,
    limit,
)
from timpani.libraries.tuning_file import LeftOut, Written, differ_by_nodes, rank_counts
from timpani.study.selection import ALL, Rule, SelectionTable, Span, overlap, split_span
from timpani.study.sizes import LARGEST

ONE_NODE, SEVERAL_NODES = Span(1, 1), Span(2)
SIZED = {
    **dict.fromkeys(("bcast", "reduce", "allreduce", "alltoall"), "avg_msg_size"),
    **dict.fromkeys(("allgather", "allgatherv", "reduce_scatter", "reduce_scatter_block"), "total_msg_size"),
}
"""What holds the same bytes on all ranks. Left out: gather and scatter, where it counts elements, and of arguments that
are not significant on every rank; alltoallv, where each rank adds up its own."""
TIMES_RANKS = ("allgather", "allgatherv", "reduce_scatter_block")
"""Collectives whose total is our size times the ranks: each number of ranks has separate limits."""


@dataclass(frozen=True)
class Piece:
    """A rule that the tree can say, and the branch that names its algorithm; None: the library's choice."""

    rule: Rule
    branch: Branch | None


def with_rules(tree: Tree, pieces: Sequence[Piece]) -> Tree:
    """`tree`, of all collectives, with what `pieces` say."""
    return tuple(
        replace(branch, below=_with_rules(collective, branch.below, own_pieces))
        if (own_pieces := [each for each in pieces if each.rule.collective == collective])
        else branch
        for branch in tree
        for collective in (branch.key.removeprefix("collective="),)
    )


def _with_rules(collective: str, own: Tree, pieces: list[Piece]) -> Tree:
    """The collective's branches with rules: for communicators within one group of ranks, as all measured ones are."""
    within = below(own, "comm_type=intra") or own
    chosen = _by_ranks(collective, _as_searched(within, False), pieces)
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


def _by_ranks(collective: str, own: Tree, pieces: list[Piece]) -> Tree:
    found: dict[str, Tree] = {}
    for ranks in split_span([each.rule.ranks for each in pieces], Span(1)):
        here = [each for each in pieces if ranks.first in each.rule.ranks]
        each_count = collective in TIMES_RANKS and any(piece.rule.sizes != ALL for piece in here)
        counts = [Span(count, count) for count in rank_counts(ranks) or ()] if each_count else [ranks]
        for count in counts:
            times = count.first if each_count else 1
            found[_key("comm_size", count.last)] = _by_nodes(
                collective, _restricted(own, "comm_size", count), here, times
            )
    return _chain(found)


def _by_nodes(collective: str, own: Tree, pieces: list[Piece], times: int) -> Tree:
    if all(each.rule.nodes == ALL for each in pieces):
        return _by_call(collective, own, pieces, times)
    one, several = (
        _by_call(collective, own, [each for each in pieces if each.rule.nodes in (ALL, nodes)], times)
        for nodes in (ONE_NODE, SEVERAL_NODES)
    )
    return (Branch("comm_size=node_comm_size", one), Branch("comm_size=any", several))


def _by_call(collective: str, own: Tree, pieces: list[Piece], times: int) -> Tree:
    """`own`, with `pieces` wherever it knows all that it asks of the communicator."""
    return _where_known(own, lambda rest: _by_size(collective, rest, pieces, times)) if pieces else own


def _where_known(own: Tree, decided: Callable[[Tree], Tree]) -> Tree:
    """`own` down to its first conditions on a call, and in their place what is `decided` of them."""
    found: list[Branch] = []
    for number, branch in enumerate(own):
        if is_algorithm(branch) or is_of_the_call(branch.key):
            rest = decided(own[number:])
            return (*found, Branch("comm_size=any", rest)) if found else rest
        found.append(replace(branch, below=_where_known(branch.below, decided)))
    return tuple(found)


def _by_size(collective: str, own: Tree, pieces: list[Piece], times: int) -> Tree:
    quantity = SIZED.get(collective, "")
    found: dict[str, Tree] = {}
    first = 0
    for branch, together in groupby(_choices(pieces), lambda each: each[1]):
        *_, (sizes, _) = together
        last = None if sizes.last is None else sizes.last * times
        otherwise = _restricted(own, quantity, Span(first, last))
        found[_key(quantity, last)] = _where_measured(collective, branch, otherwise) if branch else otherwise
        first = (last or 0) + 1
    return _side_by_side(_chain(found), quantity)


def _choices(pieces: list[Piece]) -> list[tuple[Span, Branch | None]]:
    """All sizes, ascending, and what is named for them; None: the library's choice."""
    return [
        (sizes, next((each.branch for each in pieces if sizes.first in each.rule.sizes), None))
        for sizes in split_span([each.rule.sizes for each in pieces], ALL)
    ]


def _where_measured(collective: str, algorithm: Branch, otherwise: Tree) -> Tree:
    """`algorithm` for the calls that are measured: built-in operators, buffers of their own, equal blocks."""
    chosen = guarded(collective, algorithm, otherwise)
    for quantity, value in reversed(MEASURED.items()):
        if collective in ASKED_OF.get(quantity, ()):
            other = f"{quantity}={OTHER_VALUE[value]}"
            chosen = (Branch(f"{quantity}={value}", chosen), Branch(other, otherwise))
    return chosen


def _restricted(tree: Tree, quantity: str, span: Span) -> Tree:
    """What remains to be asked where `quantity` lies in `span`."""
    found: list[Branch] = []
    for branch in tree:
        asked = limit(branch.key)
        if is_algorithm(branch):
            found.append(branch)
        elif asked is None or asked[0] != quantity:
            found.append(replace(branch, below=_restricted(branch.below, quantity, span)))
        elif span.last is not None and asked[1] >= span.last:
            found.append(Branch(f"{quantity}=any", _restricted(branch.below, quantity, span)))
            break
        elif asked[1] >= span.first:
            found.append(replace(branch, below=_restricted(branch.below, quantity, Span(span.first, asked[1]))))
            span = Span(asked[1] + 1, span.last)
    return found[0].below if len(found) == 1 and is_any(found[0].key) else tuple(found)


def _side_by_side(tree: Tree, quantity: str) -> Tree:
    """`tree`, with limits of `quantity` that stand below another of its limits put before that one."""
    found: list[Branch] = []
    for branch in tree:
        if all(each.key.startswith((f"{quantity}<", f"{quantity}=any")) for each in (branch, *branch.below)):
            found += branch.below[:-1]
            branch = replace(branch, below=branch.below[-1].below)
        found.append(branch)
    return tuple(found)


def _key(quantity: str, last: int | None) -> str:
    return f"{quantity}=any" if last is None else f"{quantity}<={last}"


def _chain(found: Mapping[str, Tree]) -> Tree:
    """Branches in order, of neighbors with the same below them the last; none where that is all."""
    items = list(found.items())
    kept = [item for item, after in zip(items, [*items[1:], None], strict=True) if after is None or after[1] != item[1]]
    return kept[0][1] if len(kept) == 1 else tuple(Branch(key, chosen) for key, chosen in kept)


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
