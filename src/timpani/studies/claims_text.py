"""What a study concluded, checked against the table that it published and against a campaign: as text and as JSON."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import polars as pl

from timpani.campaign.folder.load import Campaign, Statistic
from timpani.campaign.read.message_locality import without_pairs
from timpani.campaign.read.study_names import study_label
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.libraries.registry import counterpart
from timpani.stats.interval import LEVEL
from timpani.studies.claim import Case, Claim
from timpani.studies.claim_conditions import ClaimConditions, claim_conditions, message_costs
from timpani.studies.claims import (
    FAILS,
    HOLDS,
    IN_PART,
    NOT_TESTABLE,
    ClaimResult,
    check_claim,
    claim_times,
    claims_of,
)
from timpani.studies.tables import Published, is_import_of, study_times
from timpani.study.cell import COMPOSED, OWN, Algorithm
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent

_SINGLE = "single run, no interval"


_PARTLY_TESTED = {HOLDS: "nothing against it", FAILS: "against it", IN_PART: "partly against it"}
"""Verdicts in words where the study's conditions aren't met: they are no verdicts on what it concluded."""


@dataclass(frozen=True)
class Here:
    """What a campaign's times say of a claim, and under how much of the study's conditions."""

    finding: ClaimResult
    conditions: ClaimConditions


@dataclass(frozen=True)
class Checked:
    """A claim checked twice: against what the study published, and against a campaign; None where that is the table."""

    published: ClaimResult
    campaign: Here | None


def check_claims(table: Published, campaign: Campaign) -> list[Checked]:
    """All that the study of `table` concluded, against all that it published, and against the times of `campaign`."""

    def label_here(collective: str, name: str) -> str:
        return study_label(campaign, collective, _label(collective, name, campaign.header.mpi.kind))

    printed = _printed_times(table)
    cells = estimate_cells(raced_results(campaign))
    own = claim_times(without_pairs(cells))
    own = pl.concat([own, message_costs(campaign, cells)])

    def here(claim: Claim) -> Here:
        found = check_claim(claim, own, label_here)
        return Here(found, claim_conditions(claim, table, campaign, own))

    return [
        Checked(
            check_claim(claim, printed, lambda collective, name: _label(collective, name, table.provider)),
            None if is_import_of(campaign.header, table) else here(claim),
        )
        for claim in claims_of(table.study)
    ]


def claims_text(table: Published, checked: list[Checked], simulated: bool, statistic: Statistic) -> str:
    """Some lines for each claim; empty where the study has none. statistic: of the campaign's times."""
    if not checked:
        return ""
    times = "OSU averages" if statistic == "osu" else "completions"
    here = f"; here checked with {times}" if any(each.campaign for each in checked) else ""
    lines = [f"What the study concluded ({table.study}){here}:"]
    for each in checked:
        lines.append(f"- {each.published.claim.by}: {each.published.claim.says}")
        if each.published.measure:
            lines.append(f"    test: {each.published.claim.scope}; {each.published.measure}")
        lines.append(f"    published: {_verdict_text(each.published, each.published.verdict, single=True)}")
        if each.campaign:
            lines.append(f"    {_here_text(each.campaign, simulated)}")
    return "\n".join(lines) + "\n"


def claims_object(checked: list[Checked]) -> list[dict[str, Any]]:
    """For JSON: a claim with its two verdicts and all numbers; `campaign` is null where that is the table itself."""
    return [
        {
            "study": each.published.claim.study,
            "by": each.published.claim.by,
            "says": each.published.claim.says,
            "check": each.published.claim.check,
            "scope": each.published.claim.scope,
            "measure": each.published.measure,
            "published": _finding_object(each.published),
            "campaign": each.campaign
            and {**_finding_object(each.campaign.finding), "conditions": _conditions_object(each.campaign.conditions)},
        }
        for each in checked
    ]


def _finding_object(finding: ClaimResult) -> dict[str, Any]:
    return {"verdict": finding.verdict, "why": finding.why, "cases": [vars(case) for case in finding.cases]}


def _conditions_object(conditions: ClaimConditions) -> dict[str, Any]:
    return {**vars(conditions), "met": conditions.met}


def _printed_times(table: Published) -> pl.DataFrame:
    """What the study published as `claim_times` has a campaign's: without bounds."""
    return study_times(table.study).select(
        *("collective", "label", "ranks"),
        *(pl.lit(value).alias(name) for name, value in (("placement", "unknown"), ("mode", "warm"))),
        *("machine", "message_bytes"),
        pl.col("published_us").alias("time_us"),
        *(pl.lit(None, pl.Float64).alias(name) for name in ("low_us", "high_us")),
    )


def _label(collective: str, name: str, kind: str) -> str:
    """What a campaign with this library calls an algorithm that a study file names; Timpani's are the same on all."""
    algorithm = Algorithm.parse(name)
    if algorithm.provider in (OWN, COMPOSED):
        return algorithm.label
    return counterpart(collective, algorithm, kind).label


def _here_text(here: Here, simulated: bool) -> str:
    if here.finding.verdict == NOT_TESTABLE or here.conditions.met:
        return f"here: {_verdict_text(here.finding, here.finding.verdict, simulated=simulated)}"
    verdict = _PARTLY_TESTED.get(here.finding.verdict, here.finding.verdict)
    return f"here, {here.conditions.differences}: {_verdict_text(here.finding, verdict, simulated=simulated)}"


def _verdict_text(finding: ClaimResult, verdict: str, single: bool = False, simulated: bool = False) -> str:
    if finding.verdict == NOT_TESTABLE:
        return f"{verdict}: {finding.why}"
    return "; ".join([verdict, *_numbers(finding), _interval(finding.cases, single, simulated)])


def _numbers(finding: ClaimResult) -> Iterator[str]:
    cases = finding.cases
    if len(cases) == 1:
        yield f"{cases[0].value:.3g} ({cases[0].where})"
        return
    values = [case.value for case in cases]
    yield (
        f"in {finding.holding} of {counted(len(cases), 'case')} ({finding.holding / len(cases):.0%}), values "
        f"{min(values):.3g} to {max(values):.3g}"
    )
    if finding.verdict == IN_PART and (where := ", ".join(_where_it_fails(cases))):
        yield f"cases that do not hold: {where}"
    failing = [case for case in cases if case.holds is False]
    if failing:
        worst = max(failing, key=lambda case: abs(case.value - 1))
        yield f"most against it: {worst.value:.3g} ({worst.where})"
    if ties := sum(case.tied for case in cases):
        yield counted(ties, "tie")
    if still_open := sum(case.is_open for case in cases):
        yield f"{still_open} undecided"


def _where_it_fails(cases: Iterable[Case]) -> Iterator[str]:
    """The sizes, and the rank counts, at which not all cases hold, neighbors together; nothing where that is at all."""
    for field, show in (("bytes", show_size), ("ranks", lambda ranks: counted(ranks, "rank"))):
        parts: dict[int, list[bool]] = {}
        for case in cases:
            if (value := getattr(case, field)) is not None:
                parts.setdefault(value, []).append(case.holds is True)
        runs = [(holds, [*run]) for holds, run in groupby(sorted(parts.items()), key=lambda part: all(part[1]))]
        if len(runs) > 1:
            yield from (_run(run, show) for holds, run in runs if not holds)


def _run(parts: list[tuple[int, list[bool]]], show: Callable[[int], str]) -> str:
    held = [each for _, part in parts for each in part]
    ends = dict.fromkeys((show(parts[0][0]), show(parts[-1][0])))
    return f"{' to '.join(ends)} ({held.count(False)} of {len(held)})"


def _interval(cases: tuple[Case, ...], single: bool, simulated: bool) -> str:
    if simulated:
        return "simulated, nothing varies"
    if single or all(case.low is None for case in cases):
        return _SINGLE if single else "single values, no interval"
    return f"by {per_cent(LEVEL)} intervals of both times"
