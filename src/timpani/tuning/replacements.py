"""Where an algorithm of ours should replace the library's default, as rules that `libtimpani.so` reads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from timpani.study.columns import algorithm_name, is_schedule_of_ours
from timpani.study.operations import OPERATIONS
from timpani.study.placement import RankLayout
from timpani.study.schema import POINT, schema
from timpani.tuning.decide import compare_with_default

_VERSION = 1


@dataclass(frozen=True)
class Replacement:
    """One rule: `algorithm`, as it is typed without provider, for messages from `first_bytes` to `last_bytes`.

    gain  default's time / algorithm's, the smallest of those sizes
    """

    collective: str
    ranks: int
    layout: RankLayout
    first_bytes: int
    last_bytes: int
    algorithm: str
    gain: float


def replacements(results: pl.DataFrame, layouts: Mapping[tuple[int, str], RankLayout]) -> list[Replacement]:
    """A rule wherever one of ours was significantly faster than the default (columns RESULT_SCHEMA).

    `layouts` gives the layout of ranks over nodes by rank count and placement; points without one are left out. A
    program does not say by which placement it was started, so an algorithm must win in all placements with the same
    layout; of those that do, the one with the largest minimum gain is taken. A rule extends to the next measured size
    if its algorithm wins there too, and never beyond the measured sizes. Where an algorithm or the default failed, it
    did not win.
    """
    points: dict[tuple[str, int, RankLayout], dict[int, dict[str, float]]] = {}
    for (collective, ranks, nodes, per_node, size), names, ratios in _winners(results, layouts):
        won = points.setdefault((collective, ranks, RankLayout(nodes, per_node)), {})
        won[size] = dict(zip(names, ratios, strict=True))
    return [rule for point, won in points.items() for rule in _rules(point, won)]


def warnings(rules: Iterable[Replacement]) -> list[str]:
    """What rules cost calls that they do not replace."""
    agreeing = sorted({rule.collective for rule in rules if _tells_sizes(rule.collective)})
    return [f"{name}: ranks agree on sizes at every call, also at sizes that no rule replaces" for name in agreeing]


def _tells_sizes(collective: str) -> bool:
    """Whether a rank's arguments give some blocks only, so that with a rule all ranks agree on sizes first."""
    movement = OPERATIONS[collective].movement
    return movement is not None and movement.counts == "exchanged"


def rules_text(rules: Sequence[Replacement], about: Iterable[str]) -> str:
    """The file: `about` line by line as comments, then the rules. `native/interpose/rules.hpp` has its grammar."""
    lines = [f"timpani-rules {_VERSION}", *(f"# {text}" for text in about)]
    for rule in rules:
        where = f"ranks={rule.ranks}..{rule.ranks} nodes={rule.layout.nodes}..{rule.layout.nodes}"
        where += f" per_node={rule.layout.per_node}..{rule.layout.per_node}"
        if OPERATIONS[rule.collective].sized:
            where += f" bytes={rule.first_bytes}..{rule.last_bytes}"
        lines.append(f"{rule.collective} {where} {rule.algorithm}  # {rule.gain:.2f} × or more")
    return "\n".join([*lines, f"end {len(rules)}", ""])


_Winners = Mapping[int, Mapping[str, float]]
"""For each measured size the algorithms that win there, with their smallest gain; empty where none does."""

_RulePoint = tuple[str, int, int, int, int]
"""What a rule can tell apart: collective, ranks, nodes, ranks on a node, size."""


def _winners(
    results: pl.DataFrame, layouts: Mapping[tuple[int, str], RankLayout]
) -> Iterator[tuple[_RulePoint, list[str], list[float]]]:
    """At each point the algorithms of ours that are significantly faster wherever it was measured: in every placement,
    mode and machine."""
    known = pl.DataFrame(
        [(ranks, placement, layout.nodes, layout.per_node) for (ranks, placement), layout in layouts.items()],
        schema={**schema("ranks", "placement"), "nodes": pl.Int64(), "per_node": pl.Int64()},
        orient="row",
    )
    rule_point = ("collective", "ranks", "nodes", "per_node", "message_bytes")
    tried = results.select(POINT).unique().join(known, on=["ranks", "placement"]).group_by(rule_point).len("tried")
    won = (
        compare_with_default(results)
        .filter(is_schedule_of_ours(), "significant", "faster")
        .join(known, on=["ranks", "placement"])
        .group_by(*rule_point, algorithm_name())
        .agg(pl.len().alias("won"), pl.col("ratio").min())
        .join(tried, on=rule_point)
        .filter(pl.col("won") == pl.col("tried"))
        .group_by(rule_point)
        .agg("name", "ratio")
    )
    for *where, names, ratios in tried.join(won, on=rule_point, how="left").sort(rule_point).drop("tried").iter_rows():
        yield tuple(where), names or [], ratios or []


def _rules(point: tuple[str, int, RankLayout], won: _Winners) -> list[Replacement]:
    """Runs of sizes at which the same algorithm is the best of ours."""
    found: list[Replacement] = []
    sizes = sorted(won)
    for size, following in zip(sizes, [*sizes[1:], None], strict=True):
        if not won[size]:
            continue
        gain, best = max((gain, name) for name, gain in won[size].items())
        last = following - 1 if following is not None and best in won[following] else size
        before = found[-1] if found else None
        if before is not None and before.algorithm == best and before.last_bytes + 1 == size:
            found[-1] = replace(before, last_bytes=last, gain=min(before.gain, gain))
        else:
            found.append(Replacement(*point, size, last, best, gain))
    return found
