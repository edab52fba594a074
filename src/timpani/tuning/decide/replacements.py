"""Rules by which `libtimpani.so` replaces a library's collectives by Timpani's: one form of the selection table."""

from collections.abc import Iterable, Sequence

from timpani.study.operations import OPERATIONS
from timpani.tuning.decide.selection_table import ALL, Rule, Span

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


def rules_text(rules: Sequence[Rule], about: Iterable[str]) -> str:
    """The file: the lines of `about` as comments, then the rules.

    `native/interpose/rules/rules.hpp` defines its grammar.
    """
    lines = [f"timpani-rules {_VERSION}", *(f"# {text}" for text in about)]
    for rule in rules:
        spans = {"ranks": rule.ranks, "nodes": rule.nodes, "per_node": rule.per_node, "bytes": rule.sizes}
        where = "".join(f" {name}={_range(span)}" for name, span in spans.items() if span != ALL)
        gain = min((each.gain for each in rule.evidence), default=None)
        shown = "" if gain is None else f"  # {'predicted: ' * rule.predicted}{gain:.2f} × or more"
        lines.append(f"{rule.collective}{where} {rule.algorithm.plain}{shown}")
    return "\n".join([*lines, f"end {len(rules)}", ""])


def _range(span: Span) -> str:
    return f"{span.first}..{'' if span.last is None else span.last}"
