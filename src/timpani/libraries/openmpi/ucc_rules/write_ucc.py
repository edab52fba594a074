"""A `ucc.conf` from a selection table: one section for each class of teams, so that at most one section holds."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from timpani.errors import printable
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.openmpi.ucc_rules.ucp_algorithms import BINARY_RADIX, COLLECTIVES, UcpAlgorithm
from timpani.libraries.tuning_file import LeftOut, Written, rank_counts
from timpani.study.selection import ALL, Call, Rule, SelectionTable, Span, common_part, overlap, split_span
from timpani.study.sizes import LARGEST

PREFIX = "UCC_TL_UCP_"
TUNE = f"{PREFIX}TUNE"
_SECTION_KEYS = ("team_size", "ppn", "nnodes")
_NOTE = (
    "# NOT TRIED: Timpani measured the algorithms of Open MPI's coll/tuned. These settings name the algorithms of",
    "# UCC that do the same by their descriptions. Measure before you use them: UCC_CONFIG_FILE names this file.",
)

_Box = tuple[Span, Span, Span]
"""Ranks, ranks per node, nodes."""


def write_configuration(table: SelectionTable, catalogue: Catalogue) -> Written:
    """The file that says those rules of the library's algorithms for which TL/UCP has the same."""
    said: list[Rule] = []
    left_out: list[LeftOut] = []
    for rule in table.rules:
        if why := _unsayable(rule, catalogue.provider):
            left_out.append(LeftOut(rule, why))
            continue
        said.append(rule)
        if _ucp_algorithm(rule).radix and rule.sizes != ALL:
            why = f"{PREFIX}{_ucp_algorithm(rule).radix}={BINARY_RADIX} holds for all sizes of these ranks"
            left_out.append(LeftOut(rule, why))
    lines = [*_NOTE, f"# From {printable(f'{catalogue.title}, {table.source}')}"]
    for box in _boxes(said):
        lines += ["", f"[{_name(box)}]", *_settings(box, [rule for rule in said if _overlaps(rule, box)])]
    renamed = (
        replace(rule, algorithm=replace(rule.algorithm, name=f"ucc_{_ucp_algorithm(rule).name}")) for rule in said
    )
    return Written("\n".join([*lines, ""]), replace(table, rules=tuple(renamed)), tuple(left_out))


def _ucp_algorithm(rule: Rule) -> UcpAlgorithm:
    same = COLLECTIVES[rule.collective].same_as(rule.algorithm)
    assert same is not None, "such a rule is left out"
    return same


def _unsayable(rule: Rule, provider: str) -> str:
    """Why UCC can't be given the rule, in words; nothing where it can."""
    collective = COLLECTIVES.get(rule.collective)
    if rule.algorithm.provider != provider or collective is None or collective.same_as(rule.algorithm) is None:
        return "UCC's TL/UCP has no algorithm that is known to do the same"
    if collective.unit == "nothing" and rule.sizes != ALL:
        return f"UCC compares no size of {collective.name}"
    if rule.sizes.first == 1 or rule.sizes.last == 0:
        return "UCC has no range that distinguishes 0 B from 1 B"
    if _scales(rule) and rank_counts(rule.ranks) is None:
        return "sizes are compared times ranks, which takes a section for each number of ranks"
    return ""


def _scales(rule: Rule) -> bool:
    return COLLECTIVES[rule.collective].unit == "blocks" and rule.sizes != ALL


def _boxes(rules: list[Rule]) -> Iterator[_Box]:
    """Classes of teams that no rule divides, each with a rule."""
    ranks = split_span([each for rule in rules for each in _rank_spans(rule)], Span(1))
    per_node = list(split_span([rule.per_node for rule in rules], Span(1)))
    nodes = list(split_span([rule.nodes for rule in rules], Span(1)))
    for box in product(ranks, per_node, nodes):
        if _possible(box) and any(_overlaps(rule, box) for rule in rules):
            yield box


def _rank_spans(rule: Rule) -> list[Span]:
    """The ranks of a rule, each number alone where its sizes are multiplied by it."""
    if not _scales(rule):
        return [rule.ranks]
    return [Span(count, count) for count in rank_counts(rule.ranks) or ()]


def _possible(box: _Box) -> bool:
    """Whether that many ranks can be on such nodes."""
    ranks, per_node, nodes = box
    most = None if per_node.last is None or nodes.last is None else per_node.last * nodes.last
    least = per_node.first + nodes.first - 1
    return common_part(ranks, Span(least, most)) is not None


def _overlaps(rule: Rule, box: _Box) -> bool:
    spans = (rule.ranks, rule.per_node, rule.nodes)
    return all(overlap(one, other) for one, other in zip(spans, box, strict=True))


def _name(box: _Box) -> str:
    spans = zip(_SECTION_KEYS, box, strict=True)
    return " ".join(f"{key}={_range(span)}" for key, span in spans if span != Span(1)) or "team_size=1-2147483647"


def _range(span: Span) -> str:
    last = LARGEST if span.last is None else span.last
    return str(span.first) if span.first == last else f"{span.first}-{last}"


def _settings(box: _Box, rules: list[Rule]) -> Iterator[str]:
    """Radices, then the algorithm of each range of sizes."""
    tokens = []
    radices: dict[str, None] = {}
    for name, collective in COLLECTIVES.items():
        own = [rule for rule in rules if rule.collective == name]
        for sizes in split_span([rule.sizes for rule in own], ALL) if own else ():
            rule = next((each for each in own if sizes.first in each.sizes), None)
            if rule is None:
                continue
            same = _ucp_algorithm(rule)
            radices |= {same.radix: None} if same.radix else {}
            first = collective.compared(Call(name, box[0].first, 1, 1, sizes.first))
            after = None if sizes.last is None else Call(name, box[0].first, 1, 1, sizes.last + 1)
            last = "inf" if after is None else collective.compared(after) - 1
            # UCC gives the first number of a range to the range before it (ucc_coll_score_map.c).
            span = "" if collective.unit == "nothing" else f"{max(first - 1, 0)}-{last}:"
            tokens.append(f"{collective.name}:{span}host:@{same.name}")
    yield from (f"{PREFIX}{radix}={BINARY_RADIX}" for radix in radices)
    yield f"{TUNE}={'#'.join(tokens)}"
