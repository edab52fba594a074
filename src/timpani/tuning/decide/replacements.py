"""Rules by which `libtimpani.so` replaces a library's collectives by ours: one form of the selection table."""

from collections.abc import Iterable, Sequence

from timpani.study.operations import OPERATIONS
from timpani.tuning.decide.selection_table import ALL, Rule, Span

_VERSION = 1


def warnings(rules: Iterable[Rule]) -> list[str]:
    """What rules cost calls that they do not replace."""
    agreeing = sorted({rule.collective for rule in rules if _tells_sizes(rule.collective)})
    return [f"{name}: ranks agree on sizes at every call, also at sizes that no rule replaces" for name in agreeing]


def _tells_sizes(collective: str) -> bool:
    """Whether a rank's arguments give some blocks only, so that with a rule all ranks agree on sizes first."""
    movement = OPERATIONS[collective].movement
    return movement is not None and movement.counts == "exchanged"


def rules_text(rules: Sequence[Rule], about: Iterable[str]) -> str:
    """The file: `about` line by line as comments, then the rules. `native/interpose/rules.hpp` has its grammar."""
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
