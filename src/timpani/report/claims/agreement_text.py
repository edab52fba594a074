"""How a campaign agrees with a published table: as text and as JSON."""

from collections.abc import Iterator
from statistics import median
from typing import Any

import polars as pl

from timpani.report.tables.plain_tables import aligned
from timpani.study.words import counted
from timpani.tuning.compare.agreement import Agreement, Unpaired


def agreement_text(found: Agreement, left_out: Unpaired, title: str, simulated: bool) -> str:
    """A row per algorithm with its rank correlations, how often both have the same best, and what has no partner."""
    rows = [("algorithm", "collective", "placement", "over ranks", "least", "over sizes", "least", "cells")]
    curves = found.over_sizes.group_by("collective", "placement", "label", maintain_order=True)
    for (collective, placement, label), by_ranks in curves:
        same = found.over_ranks.filter(collective=collective, placement=placement, label=label)
        by_size = same["correlation"].drop_nulls()
        sizes = by_ranks["correlation"].drop_nulls()
        cells = str(by_ranks["points"].sum())
        rows.append((str(label), str(collective), str(placement), *_summary(by_size), *_summary(sizes), cells))
    if found.over_sizes.is_empty():
        return "\n".join([f"No cell in common with {title}", *_left_out_lines(left_out)]) + "\n"
    lines = [
        f"{'Simulated' if simulated else 'Measured'} OSU averages against published ones: {title}",
        "Spearman's rank correlation, median and least: over rank counts at each size, over sizes at each rank count",
        *aligned(rows),
    ]
    return "\n".join([*lines, *_best_lines(found), *_left_out_lines(left_out)]) + "\n"


def agreement_object(
    found: Agreement, left_out: Unpaired, name: str, simulated: bool, itself: bool = False
) -> dict[str, Any]:
    """All correlations and places, for JSON; `itself`: the campaign is the published table, imported."""
    return {
        "published": name,
        "simulated": simulated,
        "itself": itself,
        "over_ranks": found.over_ranks.to_dicts(),
        "over_sizes": found.over_sizes.to_dicts(),
        "best": found.best.to_dicts(),
        "agreeing": found.agreeing,
        "agreeing_without_tie": found.agreeing_without_tie,
        "ties": found.ties,
        "constant": found.constant and {"algorithms": found.constant[0], "agreeing": found.constant[1]},
        "by_chance": found.by_chance,
        "campaign_only": left_out.campaign_only.to_dicts(),
        "published_only": left_out.published_only.to_dicts(),
    }


def _best_lines(found: Agreement) -> list[str]:
    lines = []
    for (collective, placement), part in found.best.group_by("collective", "placement", maintain_order=True):
        loss = part.select(median=pl.median("regret"), most=pl.max("regret")).row(0, named=True)
        lines.append(
            f"{collective} by {placement}: the same best algorithm in {part['agrees'].sum():.4g} of {part.height} "
            f"cells; picking what is best here would take {100 * loss['median']:.0f} % longer by the published times "
            f"in the median, {100 * loss['most']:.0f} % at worst"
        )
    if found.agreeing is not None and found.by_chance is not None and found.constant is not None:
        algorithms, share = found.constant
        lines.append(
            f"Agreement on the best: {found.agreeing:.0%} of {counted(found.best.height, 'cell')}; always naming "
            f"{' or '.join(algorithms)} agrees at {share:.0%}, by chance {found.by_chance:.0%}."
        )
        if found.ties:
            alone = found.agreeing_without_tie
            lines.append(
                f"The lowest time is shared, here or in the published table, at {counted(found.ties, 'cell')}; these "
                "count by the share of the algorithms that are the best here and in the table. Without a tie "
                f"{counted(alone, 'cell')} agree{'s' if alone == 1 else ''}."
            )
    return lines


def _left_out_lines(left_out: Unpaired) -> Iterator[str]:
    for rows, who in ((left_out.campaign_only, "the campaign"), (left_out.published_only, "the published table")):
        if rows.is_empty():
            continue
        curves = [
            f"{collective} {label} on {', '.join(map(str, sorted(part['ranks'])))} ranks ({part['sizes'].sum()})"
            for (collective, label), part in rows.group_by("collective", "label", maintain_order=True)
        ]
        cells = counted(int(rows["sizes"].sum()), "cell")
        yield f"Not compared, since only {who} has them: {cells}: {'; '.join(curves)}"


def _summary(correlations: pl.Series) -> tuple[str, str]:
    """Median and minimum; dashes where no correlation could be computed."""
    if correlations.is_empty():
        return "–", "–"
    ascending = sorted(correlations.to_list())
    return f"{median(ascending):.2f}", f"{ascending[0]:.2f}"
