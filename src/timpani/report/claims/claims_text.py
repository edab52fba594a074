"""What a study concluded, checked against the table that it published and against a campaign: as text and as JSON."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.osu.published_tables import Published, is_made_of
from timpani.campaign.osu.published_times import published_times
from timpani.campaign.read.cell_table import estimate_cells
from timpani.libraries.counterpart import counterpart
from timpani.report.claims.claim_conditions import ClaimConditions, claim_conditions
from timpani.study.cell import COMPOSED, OWN, Algorithm
from timpani.study.counted import counted
from timpani.tuning.claims.claim import Case, Claim
from timpani.tuning.claims.claims import CONFIRMED, NOT_TESTABLE, REFUTED, Finding, check_claim, claim_times, claims_of

_SINGLE = "single run, no interval"


_PARTLY_TESTED = {CONFIRMED: "nothing against it", REFUTED: "against it"}
"""Verdicts in words where the study's conditions aren't met: they are no verdicts on what it concluded."""


@dataclass(frozen=True)
class Here:
    """What a campaign's times say of a claim, and under how much of the study's conditions."""

    finding: Finding
    conditions: ClaimConditions


@dataclass(frozen=True)
class Checked:
    """A claim checked twice: against the published table, and against a campaign; None where that is the table."""

    published: Finding
    campaign: Here | None


def check_claims(table: Published, campaign: Campaign) -> list[Checked]:
    """All that the study of `table` concluded, against its times, where it has some, and those of `campaign`."""
    kind = campaign.header.mpi.kind
    printed = _printed_times(table)
    own = claim_times(estimate_cells(campaign.results))

    def here(claim: Claim) -> Here:
        found = check_claim(claim, own, lambda collective, name: _label(collective, name, kind))
        return Here(found, claim_conditions(claim, table, campaign, own))

    return [
        Checked(
            check_claim(claim, printed, lambda collective, name: _label(collective, name, table.provider)),
            None if is_made_of(campaign.header, table) else here(claim),
        )
        for claim in claims_of(table.study)
    ]


def claims_text(table: Published, checked: list[Checked], simulated: bool) -> str:
    """Two lines for each claim; empty where the study has none."""
    if not checked:
        return ""
    lines = [f"What the study concluded ({table.study}):"]
    for each in checked:
        lines.append(f"- {each.published.claim.by}: {each.published.claim.says}")
        lines.append(f"    {each.published.measure}")
        lines.append(f"    published: {_words(each.published, each.published.verdict, single=True)}")
        if each.campaign:
            lines.append(f"    {_here(each.campaign, simulated)}")
    return "\n".join(lines) + "\n"


def claims_object(checked: list[Checked]) -> list[dict[str, Any]]:
    """For JSON: a claim with its two verdicts and all numbers; `campaign` is null where that is the table itself."""
    return [
        {
            "study": each.published.claim.study,
            "by": each.published.claim.by,
            "says": each.published.claim.says,
            "check": each.published.claim.check,
            "measure": each.published.measure,
            "published": _finding_object(each.published),
            "campaign": each.campaign
            and {**_finding_object(each.campaign.finding), "conditions": each.campaign.conditions.as_object()},
        }
        for each in checked
    ]


def _finding_object(finding: Finding) -> dict[str, Any]:
    return {"verdict": finding.verdict, "why": finding.why, "cases": [vars(case) for case in finding.cases]}


def _printed_times(table: Published) -> pl.DataFrame:
    """The table's times as `claim_times` has a campaign's: without bounds."""
    return published_times(table, table.provider).select(
        *("collective", "label", "ranks"),
        *(pl.lit(value).alias(name) for name, value in (("placement", "unknown"), ("mode", "warm"))),
        pl.lit(table.machine).alias("machine"),
        "message_bytes",
        pl.col("published_us").alias("time_us"),
        *(pl.lit(None, pl.Float64).alias(name) for name in ("low_us", "high_us")),
    )


def _label(collective: str, name: str, kind: str) -> str:
    """What a campaign with this library calls an algorithm that a study file names; ours are called the same on all."""
    algorithm = Algorithm.parse(name)
    if algorithm.provider in (OWN, COMPOSED):
        return algorithm.label
    return counterpart(collective, algorithm, kind).label


def _here(here: Here, simulated: bool) -> str:
    if here.finding.verdict == NOT_TESTABLE or here.conditions.met:
        return f"here: {_words(here.finding, here.finding.verdict, simulated=simulated)}"
    verdict = _PARTLY_TESTED.get(here.finding.verdict, here.finding.verdict)
    return f"here, {here.conditions.words}: {_words(here.finding, verdict, simulated=simulated)}"


def _words(finding: Finding, verdict: str, single: bool = False, simulated: bool = False) -> str:
    if finding.verdict == NOT_TESTABLE:
        return f"{verdict}: {finding.why}"
    return "; ".join([verdict, *_numbers(finding), _interval(finding.cases, single, simulated)])


def _numbers(finding: Finding) -> Iterator[str]:
    cases = finding.cases
    if len(cases) == 1:
        yield f"{cases[0].value:.3g} ({cases[0].where})"
        return
    values = [case.value for case in cases]
    yield f"holds in {finding.holding} of {counted(len(cases), 'case')}: {min(values):.3g} to {max(values):.3g}"
    failing = [case for case in cases if case.holds is False]
    if failing and finding.verdict != CONFIRMED:
        worst = max(failing, key=lambda case: abs(case.value - 1))
        yield f"most against it: {worst.value:.3g} ({worst.where})"
    if undecided := sum(case.holds is None for case in cases):
        yield f"{undecided} undecided"


def _interval(cases: tuple[Case, ...], single: bool, simulated: bool) -> str:
    if simulated:
        return "simulated, nothing varies"
    if single or all(case.low is None for case in cases):
        return _SINGLE if single else "single values, no interval"
    return "by 95 % intervals of both times"
