"""Where an algorithm of ours should replace the library's default, as rules that `libtimpani.so` reads."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import polars as pl

from timpani.campaign.spreads import Spread
from timpani.study.cell import OWN
from timpani.study.operations import OPERATIONS
from timpani.tuning.decide import compare_with_default

_VERSION = 1


@dataclass(frozen=True)
class Replacement:
    """One rule: `algorithm`, as it is typed without provider, for messages from `first_bytes` to `last_bytes`.

    gain  the smallest that was measured there: default's time / algorithm's
    """

    collective: str
    ranks: int
    spread: Spread
    first_bytes: int
    last_bytes: int
    algorithm: str
    gain: float


def replacements(results: pl.DataFrame, spreads: Mapping[tuple[int, str], Spread]) -> list[Replacement]:
    """A rule wherever one of ours was significantly faster than the default (columns RESULT_SCHEMA).

    `spreads` tells of rank count and placement how ranks lay; points without are left out. A program does not say by
    which placement it was started: an algorithm must win at all that spread ranks alike, and of those that do the one
    whose least gain is largest is taken. Rules reach from one measured size to the next where something wins at both,
    and never beyond what was measured.
    """
    compared = compare_with_default(results).with_columns(
        pl.struct("ranks", "placement")
        .map_elements(lambda row: _pair(spreads.get((row["ranks"], row["placement"]))), return_dtype=pl.List(pl.Int64))
        .alias("spread")
    )
    points: dict[tuple[str, int, Spread], dict[int, tuple[str, float] | None]] = {}
    key = ("collective", "ranks", "spread", "message_bytes")
    for values, rows in compared.filter(pl.col("spread").is_not_null()).sort(key).group_by(key, maintain_order=True):
        collective, ranks, spread, size = values
        assert isinstance(spread, list), "polars gives a list column's key as a list"
        sizes = points.setdefault((str(collective), _int(ranks), Spread(*spread)), {})
        sizes[_int(size)] = _winner(rows)
    return [rule for point, sizes in points.items() for rule in _rules(point, sizes)]


def rules_text(rules: Sequence[Replacement], about: Iterable[str]) -> str:
    """The file: `about` line by line as comments, then the rules. `native/interpose/rules.hpp` has its grammar."""
    lines = [f"timpani-rules {_VERSION}", *(f"# {text}" for text in about)]
    for rule in rules:
        where = f"ranks={rule.ranks}..{rule.ranks} nodes={rule.spread.nodes}..{rule.spread.nodes}"
        where += f" per_node={rule.spread.per_node}..{rule.spread.per_node}"
        if OPERATIONS[rule.collective].sized:
            where += f" bytes={rule.first_bytes}..{rule.last_bytes}"
        lines.append(f"{rule.collective} {where} {rule.algorithm}  # {rule.gain:.2f} × or more")
    return "\n".join([*lines, f"end {len(rules)}", ""])


def _pair(spread: Spread | None) -> list[int] | None:
    return None if spread is None else [spread.nodes, spread.per_node]


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value


def _winner(rows: pl.DataFrame) -> tuple[str, float] | None:
    """Of ours the one that is significantly faster in every placement, mode and machine, by the largest least ratio."""
    occasions = rows.select("placement", "mode", "machine").n_unique()
    wins = rows.filter(pl.col("provider") == OWN, pl.col("significant"), pl.col("faster"))
    name = pl.concat_str(
        "algorithm", pl.when(pl.col("parameters") != "").then(":" + pl.col("parameters")), ignore_nulls=True
    )
    everywhere = (
        wins.group_by(name.alias("name"))
        .agg(pl.len().alias("wins"), pl.col("ratio").min())
        .filter(pl.col("wins") == occasions)
        .sort("ratio", "name", descending=[True, False])
    )
    return None if everywhere.is_empty() else (everywhere["name"][0], everywhere["ratio"][0])


def _rules(point: tuple[str, int, Spread], sizes: Mapping[int, tuple[str, float] | None]) -> Iterator[Replacement]:
    """Runs of sizes at which the same algorithm wins, each up to the next measured size that is won."""
    ordered = sorted(sizes)
    won: list[Replacement] = []
    for size, following in zip(ordered, [*ordered[1:], None], strict=True):
        if (found := sizes[size]) is None:
            continue
        last = following - 1 if following is not None and sizes[following] is not None else size
        won.append(Replacement(*point, size, last, *found))
    for _, run in groupby(enumerate(won), key=lambda each: (each[1].algorithm, _chain(won, each[0]))):
        rules = [rule for _, rule in run]
        yield replace(rules[0], last_bytes=rules[-1].last_bytes, gain=min(rule.gain for rule in rules))


def _chain(won: Sequence[Replacement], index: int) -> int:
    """Where the rules that reach one another without a gap, up to `index`, begin."""
    while index > 0 and won[index - 1].last_bytes + 1 == won[index].first_bytes:
        index -= 1
    return index
