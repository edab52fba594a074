"""Choose rules from a campaign, and write them for `libtimpani.so`.

A rule says where which algorithm is significantly faster than the default. There are few rules.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import polars as pl

from timpani.judge.decide import compare_sampled_with_default, compare_with_default
from timpani.judge.raced import RacedResults, raced_points
from timpani.study.cell import Algorithm, RankLayout, is_under_files
from timpani.study.operations import COLLECTIVES, OPERATIONS
from timpani.study.schema import ALGORITHM, POINT, algorithm_of, schema
from timpani.study.selection import ALL, Evidence, Rule, SizeGap, Span

MAX_MERGE_RATIO = 1.02
"""Maximum ratio of an algorithm's time to the best one's at which neighboring sizes share one rule."""

Layouts = Mapping[str, Mapping[tuple[int, str], RankLayout]]
"""The distribution of ranks over nodes on each machine, by rank count and placement."""

Winners = dict[int, dict[Algorithm, Evidence]]
"""For each measured size the algorithms that win there; empty if none does."""

RankPoint = tuple[str, int, RankLayout]
"""A collective, a rank count and the distribution of the ranks."""


@dataclass(frozen=True)
class SelectedRules:
    """Rules, and the measured sizes between which the choice changes."""

    rules: tuple[Rule, ...]
    gaps: tuple[SizeGap, ...]


def select(results: RacedResults, layouts: Layouts, provider: str, max_ratio: float = MAX_MERGE_RATIO) -> SelectedRules:
    """A rule wherever an algorithm of `provider` is significantly faster than the default.

    - Points with an unknown layout are left out.
    - A program does not report its placement. So an algorithm must win in all placements with the same layout.
    - Of several machines, an algorithm must win on each, at a layout that each has.
    - A rule extends to the next measured size if its algorithm wins there too, and never beyond the measured sizes.
    - An algorithm that failed does not win, nor does any algorithm where the default failed.
    - Sampled sizes between raced sizes need no significant result. But no rule extends over a sampled size at which its
      algorithm failed or seems slower than another one.

    max_ratio  maximum time of a rule's algorithm over the best winner's; with 1 each size gets its best algorithm
    """
    known, machines = _layout_table(layouts), len(layouts)
    complete = raced_points(results)
    samples = results.rows.join(complete.rows, on=POINT, how="anti")
    points = _winning(complete.rows, compare_with_default(complete), known, machines, provider)
    sampled = _winning(samples, compare_sampled_with_default(results), known, machines, provider)
    between: dict[RankPoint, Winners] = {}
    for where, found in sampled.items():
        raced = points.setdefault(where, {})
        inside = {size for size in found if raced and min(raced) <= size <= max(raced)}
        between[where] = {size: found[size] for size in inside}
        raced |= {size: found[size] for size in found.keys() - inside}
    return _unbroken({where: points[where] for where in sorted(points)}, between, _unfit(results, known), max_ratio)


def _unbroken(
    points: Mapping[RankPoint, Winners],
    between: Mapping[RankPoint, Winners],
    unfit: Collection[tuple[RankPoint, int, Algorithm]],
    max_ratio: float,
) -> SelectedRules:
    """Rules for `points` that extend over no sampled size of `between` at which their algorithm is `unfit`.

    At such a size only the winners of the sample count.
    """
    points = {where: dict(won) for where, won in points.items()}
    while True:
        found = rules_of(points, max_ratio)
        broken = [
            (where, size)
            for rule in found.rules
            for where in [(rule.collective, rule.ranks.first, RankLayout(rule.nodes.first, rule.per_node.first))]
            for size in between.get(where, {}).keys() - points[where].keys()
            if size in rule.sizes and (where, size, rule.algorithm) in unfit
        ]
        if not broken:
            return found
        for where, size in broken:
            points[where][size] = between[where][size]


def rules_of(points: Mapping[RankPoint, Winners], max_ratio: float = MAX_MERGE_RATIO) -> SelectedRules:
    """Few rules for the winners at these points; `max_ratio` as of `select`."""
    rules: list[Rule] = []
    gaps: list[SizeGap] = []
    for (collective, ranks, layout), won in points.items():
        found = list(_runs(won, max_ratio))
        rules += (_rule(collective, ranks, layout, run, won) for run in found)
        gaps += (SizeGap(collective, ranks, layout.nodes, *sizes) for sizes in _changing(found, won))
    return SelectedRules(tuple(rules), tuple(gaps))


_PLACE = ("machine", "ranks", "placement")
"""Columns that decide the distribution of ranks."""


@dataclass(frozen=True)
class _Run:
    """Neighboring measured sizes with one algorithm."""

    algorithm: Algorithm
    sizes: tuple[int, ...]


def _layout_table(layouts: Layouts) -> pl.DataFrame:
    """A row for each of `layouts`."""
    return pl.DataFrame(
        [
            (machine, ranks, placement, layout.nodes, layout.per_node)
            for machine, known in layouts.items()
            for (ranks, placement), layout in known.items()
        ],
        schema={**schema(*_PLACE), "nodes": pl.Int64(), "per_node": pl.Int64()},
        orient="row",
    )


def _rank_point(row: Mapping[str, Any]) -> RankPoint:
    return row["collective"], row["ranks"], RankLayout(row["nodes"], row["per_node"])


def _unfit(results: RacedResults, known: pl.DataFrame) -> set[tuple[RankPoint, int, Algorithm]]:
    """The algorithms that failed or seem slower than another at sampled points, in any placement, mode or machine."""
    if results.race is None:
        return set()
    return {
        (_rank_point(row), row["message_bytes"], algorithm_of(row))
        for row in results.race.unfit_samples.join(known, on=_PLACE).iter_rows(named=True)
    }


def _winning(
    results: pl.DataFrame, compared: pl.DataFrame, known: pl.DataFrame, machines: int, provider: str
) -> dict[RankPoint, Winners]:
    """The winners at each point, with the evidence of the placement, mode or machine in which they gain least.

    An algorithm wins if it is from `provider` and significantly faster in every placement, mode and machine there, and
    all `machines` have the point.
    """
    rule_point = ("collective", "ranks", "nodes", "per_node", "message_bytes")
    points = results.filter(pl.col("collective").is_in(list(COLLECTIVES))).select(POINT).unique()
    found_at = points.join(known, on=_PLACE).group_by(rule_point)
    tried = found_at.agg(pl.len().alias("tried"), pl.col("machine").n_unique().alias("machines"))
    evidence = ("ratio", "ratio_low", "ratio_high", "launches")
    under_files = pl.col("algorithm").map_elements(is_under_files, return_dtype=pl.Boolean)
    won = (
        compared.filter(pl.col("provider") == provider, ~under_files, "significant", "faster")
        .join(known, on=_PLACE)
        .sort("ratio")
        .group_by(*rule_point, *ALGORITHM, maintain_order=True)
        .agg(pl.len().alias("won"), *(pl.col(column).first() for column in evidence))
        .join(tried, on=rule_point)
        .filter(pl.col("won") == pl.col("tried"), machines=machines)
    )
    found: dict[RankPoint, Winners] = {}
    for row in tried.sort(rule_point).iter_rows(named=True):
        found.setdefault(_rank_point(row), {})[row["message_bytes"]] = {}
    for row in won.sort(*rule_point, *ALGORITHM).iter_rows(named=True):
        size = row["message_bytes"]
        found[_rank_point(row)][size][algorithm_of(row)] = Evidence(size, *(row[column] for column in evidence))
    return found


def _runs(won: Winners, max_ratio: float) -> Iterator[_Run]:
    """The fewest runs of neighboring sizes with one algorithm that is near the best: each run as long as possible."""
    sizes = sorted(won)
    start = 0
    while start < len(sizes):
        reaches = {name: _reach(name, sizes[start:], won, max_ratio) for name in won[sizes[start]]}
        count, _, best = max(
            ((count, won[sizes[start]][name].gain, name) for name, count in reaches.items()),
            default=(0, 0.0, None),
        )
        if best is None:
            start += 1
            continue
        yield _Run(best, tuple(sizes[start : start + count]))
        start += count


def _reach(algorithm: Algorithm, sizes: list[int], won: Winners, max_ratio: float) -> int:
    """Number of the first `sizes` at which the algorithm wins and is near the best."""
    count = 0
    for size in sizes:
        if algorithm not in won[size] or _regret(algorithm, won[size]) > max_ratio - 1:
            break
        count += 1
    return count


def _regret(algorithm: Algorithm, winners: Mapping[Algorithm, Evidence]) -> float:
    """Excess time over the best of the winners, as a share."""
    return max(each.gain for each in winners.values()) / winners[algorithm].gain - 1


def _rule(collective: str, ranks: int, layout: RankLayout, run: _Run, won: Winners) -> Rule:
    following = next((size for size in sorted(won) if size > run.sizes[-1]), None)
    reaches_on = following is not None and run.algorithm in won[following]
    last = following - 1 if following is not None and reaches_on else run.sizes[-1]
    return Rule(
        collective,
        run.algorithm,
        ranks=Span(ranks, ranks),
        nodes=Span(layout.nodes, layout.nodes),
        per_node=Span(layout.per_node, layout.per_node),
        sizes=Span(run.sizes[0], last) if OPERATIONS[collective].sized else ALL,
        evidence=tuple(won[size][run.algorithm] for size in run.sizes),
        regret=max(_regret(run.algorithm, won[size]) for size in run.sizes),
    )


def _changing(runs: list[_Run], won: Winners) -> Iterator[tuple[int, int]]:
    """The neighboring measured sizes between which the choice changes."""
    chosen = {size: run.algorithm for run in runs for size in run.sizes}
    for size, following in pairwise(sorted(won)):
        before, after = chosen.get(size), chosen.get(following)
        if before != after and following > size + 1:
            yield size, following


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


class RuleLines(NamedTuple):
    """Lines of a file of rules, what these cost calls that they do not replace, and the rules whose algorithm only a
    whole launch can be set to."""

    lines: list[str]
    costs: list[str]
    left_out: list[Rule]


def own_lines(rules: Sequence[Rule]) -> RuleLines:
    """The lines of rules whose algorithms are all Timpani's."""
    return RuleLines([rule_line(rule, rule.algorithm.plain) for rule in rules], warnings(rules), [])


def _range(span: Span) -> str:
    return f"{span.first}..{'' if span.last is None else span.last}"
