"""Rules in JSON for Open MPI 6, from a selection table.

The first entry that fits a communicator holds. Where rules differ between distributions of ranks over nodes, entries
for one node and for one rank on each node therefore come before an entry for all others.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace

from timpani.libraries.catalogue import Catalogue
from timpani.libraries.openmpi.tuned_rules.collectives import TUNED
from timpani.libraries.openmpi.tuned_rules.distributions import ANYWHERE, DISTINGUISHED, Distribution
from timpani.libraries.openmpi.tuned_rules.parameters import Field, fields, library_name
from timpani.libraries.openmpi.tuned_rules.sayable import Said
from timpani.libraries.openmpi.tuned_rules.write import Sizes, by_ranks
from timpani.libraries.tuning_file import share_calls
from timpani.study.cell import Algorithm
from timpani.study.selection import Rule, SelectionTable, Span, overlap, split_span

VERSION, MODULE = 3, "tuned"

KEYS: Mapping[Field, str] = {"topo": "faninout", "segment": "seg_size", "requests": "reqs"}


def merged(said: tuple[Said, ...]) -> tuple[Rule, ...]:
    """The rules; one in place of those that differ in the distribution only, where no other rule is close to them."""
    rules = [each.rule for each in said]
    found: list[Rule] = []
    for rule in rules:
        anywhere = replace(rule, nodes=ANYWHERE.nodes, per_node=ANYWHERE.per_node)
        twins = [replace(rule, nodes=each.nodes, per_node=each.per_node) for each in DISTINGUISHED]
        alone = not any(share_calls(rule, other) for other in rules if other not in twins)
        merged = anywhere if alone and all(twin in rules for twin in twins) else rule
        if merged not in found:
            found.append(merged)
    return tuple(found)


def rules_text(said: SelectionTable, catalogue: Catalogue) -> str:
    """The file's text."""
    collectives = [name for name in TUNED if said.rules_for([name])]
    lines = ["{", f' "rule_file_version": {VERSION},', f' "module": "{MODULE}",', ' "collectives": {']
    for name in collectives:
        lines.append(f'  "{name}": [')
        entries = [_entry(name, entry, catalogue) for entry in _entries(name, said.rules_for([name]))]
        lines += [f"{entry}," for entry in entries[:-1]] + entries[-1:]
        lines.append("  ]," if name != collectives[-1] else "  ]")
    return "\n".join([*lines, " }", "}", ""])


_Entry = tuple[Span, Distribution, Sizes]


def _entries(collective: str, rules: tuple[Rule, ...]) -> Iterator[_Entry]:
    """The entries in the order in which the library tries them."""
    by_distribution = [
        dict(by_ranks(collective, tuple(rule for rule in rules if _decides(rule, distribution))))
        for distribution in DISTINGUISHED
    ]
    starts = sorted({ranks for each in by_distribution for ranks in each})
    for ranks in split_span([Span(first) for first in starts], Span(0)):
        single, one_per_node, several = (_reached(each, ranks.first) for each in by_distribution)
        if single == one_per_node == several:
            choices = [(ANYWHERE, several)]
        else:
            choices = list(zip(DISTINGUISHED, (single, one_per_node, several), strict=True))
            choices = [each for each in choices[:-1] if each[1] != several] + choices[-1:]
        if not _chooses(several):
            choices.pop()
        yield from ((ranks, distribution, sizes) for distribution, sizes in choices)


def _decides(rule: Rule, distribution: Distribution) -> bool:
    return overlap(rule.nodes, distribution.nodes) and overlap(rule.per_node, distribution.per_node)


def _reached(by_start: Mapping[int, Sizes], ranks: int) -> Sizes:
    starts = [start for start in by_start if start <= ranks]
    return by_start[max(starts)] if starts else {}


def _chooses(sizes: Sizes) -> bool:
    return any(sizes.values())


def _entry(collective: str, entry: _Entry, catalogue: Catalogue) -> str:
    ranks, distribution, sizes = entry
    keys: dict[str, int | str] = {"comm_size_min": ranks.first}
    if ranks.last is not None:
        keys["comm_size_max"] = ranks.last
    keys["comm_rank_distribution"] = distribution.word
    rules = [f"    {json.dumps(each)}" for each in _rules(collective, sizes, catalogue)]
    listed = "[\n" + ",\n".join(rules) + "]" if rules else "[]"
    return f'   {json.dumps(keys)[:-1]}, "rules": {listed}}}'


def _rules(collective: str, sizes: Sizes, catalogue: Catalogue) -> Iterator[dict[str, int | str]]:
    """The rules of an entry; sizes for which the library decides have none."""
    starts = sorted(sizes)
    for first, following in zip(starts, [*starts[1:], None], strict=True):
        algorithm = sizes[first]
        if algorithm is None:
            continue
        keys: dict[str, int | str] = {"msg_size_min": first}
        if following is not None:
            keys["msg_size_max"] = following - 1
        yield keys | _chosen(collective, algorithm, catalogue)


def _chosen(collective: str, algorithm: Algorithm, catalogue: Catalogue) -> dict[str, int | str]:
    """The algorithm by its name, and the parameters that it reads. The library takes 0 for a key that is missing."""
    info = catalogue.info(collective, algorithm)
    assert info is not None, "sizes without an algorithm have no rule"
    asked = dict(algorithm.parameters)
    values = {KEYS[field]: asked.get(each.name, each.default) for field, each in fields(info).items()}
    return {"alg": library_name(info)} | {key: value for key, value in values.items() if value}
