"""Rules by which `libtimpani.so` replaces a library's choice: one form of the selection table."""

from collections.abc import Iterable, Sequence

from timpani.study.operations import OPERATIONS
from timpani.study.selection import ALL, Rule, Span

_VERSION = 1


def warnings(rules: Iterable[Rule]) -> list[str]:
    """Costs that rules add to calls that they do not replace."""
    exchanged = sorted({rule.collective for rule in rules if _must_exchange_sizes(rule.collective)})
    return [f"{name}: ranks agree on sizes at every call, also at sizes that no rule replaces" for name in exchanged]


def _must_exchange_sizes(collective: str) -> bool:
    """Whether a rank knows only some block sizes from its arguments, so that with a rule all ranks first exchange
    sizes."""
    movement = OPERATIONS[collective].movement
    return movement is not None and movement.counts == "exchanged"


def rule_line(rule: Rule, algorithm: str) -> str:
    """A line of a file of rules, which names the rule's algorithm so."""
    spans = {"ranks": rule.ranks, "nodes": rule.nodes, "per_node": rule.per_node, "bytes": rule.sizes}
    where = "".join(f" {name}={_range(span)}" for name, span in spans.items() if span != ALL)
    gain = min((each.gain for each in rule.evidence), default=None)
    shown = "" if gain is None else f"  # {'predicted: ' * rule.predicted}{gain:.2f} × or more"
    return f"{rule.collective}{where} {algorithm}{shown}"


def rules_text(lines: Sequence[str], about: Iterable[str]) -> str:
    """The file: the lines of `about` as comments, then those of `rule_line`.

    `native/interpose/rules/rules.hpp` defines its grammar.
    """
    first = [f"timpani-rules {_VERSION}", *(f"# {text}" for text in about)]
    return "\n".join([*first, *lines, f"end {len(lines)}", ""])


def own_rules_text(rules: Sequence[Rule], about: Iterable[str]) -> str:
    """The file of rules whose algorithms are all Timpani's."""
    return rules_text([rule_line(rule, rule.algorithm.plain) for rule in rules], about)


def _range(span: Span) -> str:
    return f"{span.first}..{'' if span.last is None else span.last}"
