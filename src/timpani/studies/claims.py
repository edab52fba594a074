"""Verdicts on the conclusions of studies, from times."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from timpani.studies.claim import Case, Check, Claim, MissingTimesError
from timpani.studies.comparison_checks import COMPARISON_CHECKS, PLACEMENT_CHECKS
from timpani.studies.curve_checks import CURVE_CHECKS
from timpani.studies.sources import PUBLISHED
from timpani.study.schema import MEASURED_US

CHECKS: dict[str, Check] = {**CURVE_CHECKS, **COMPARISON_CHECKS, **PLACEMENT_CHECKS}


HOLDS, FAILS, IN_PART = "holds", "does not hold", "holds in part"
NO_DIFFERENCE, UNDECIDED, NOT_TESTABLE = "no difference", "undecided", "not testable here"

MIN_TIED = 0.8
"""Minimum share of ties among a claim's cases from which they show no difference, rather than a claim that fails."""

_MIN_COVERAGE = 0.9
"""Minimum coverage of an interval over launches that may decide a claim; the interval over 5 launches covers 0.94."""


@dataclass(frozen=True)
class ClaimResult:
    """The result of checking a claim.

    verdict  one of the six above
    measure  describes the value of a case and the threshold
    cases    the numbers that decide
    why      why the claim can't be tested and what is needed to test it; else ""
    """

    claim: Claim
    verdict: str
    measure: str
    cases: tuple[Case, ...] = ()
    why: str = ""

    @property
    def holding(self) -> int:
        """Number of cases that hold."""
        return sum(case.holds is True for case in self.cases)


def claims_of(study: str) -> list[Claim]:
    """The conclusions that the shipped study `study` can repeat, in the file's order."""
    text = (PUBLISHED / "conclusions.toml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["claims"]
    return [Claim.read(row) for row in rows if row["study"] == study]


def claim_times(cells: pl.DataFrame) -> pl.DataFrame:
    """The times of `estimate_cells` for claims: `time_us`, `low_us` and `high_us`.

    The bounds are those of the interval over launches if its coverage is at least _MIN_COVERAGE. A simulated time does
    not vary and is its own bound. Otherwise bounds are null, and a claim is checked by value.
    """
    simulated = pl.col("status").str.contains("simulated")
    trusted = pl.col("ci_coverage") >= _MIN_COVERAGE
    time = MEASURED_US
    return cells.filter(time > 0, time.is_finite()).select(
        *("collective", "label", "ranks", "placement", "mode", "machine", "message_bytes"),
        time.alias("time_us"),
        *(
            pl.when(simulated).then(time).when(trusted & pl.col(bound).is_not_null()).then(bound).alias(name)
            for name, bound in (("low_us", "ci_low_us"), ("high_us", "ci_high_us"))
        ),
    )


def check_claim(claim: Claim, times: pl.DataFrame, label_of: Callable[[str, str], str]) -> ClaimResult:
    """Check `claim` with `times`, columns as of `claim_times`.

    label_of  gives the label in `times` for a collective and the algorithm's name in study files
    """
    if not claim.check:
        return ClaimResult(claim, NOT_TESTABLE, "", why=f"it takes {claim.needs}")
    named = claim.with_names(lambda name: label_of(claim.collective, name) if "/" in name else name)
    check = CHECKS[claim.check]
    measure = check.measure(claim)
    if times.is_empty():
        return ClaimResult(claim, NOT_TESTABLE, measure, why="there are no times")
    needed = f"it takes {claim.needs or f'times of {claim.scope}'}"
    scoped = named.in_scope(times)
    if scoped.is_empty():
        return ClaimResult(claim, NOT_TESTABLE, measure, why=needed)
    try:
        cases = tuple(check.cases(named, scoped))
    except MissingTimesError as missing:
        return ClaimResult(claim, NOT_TESTABLE, measure, why=f"{missing}; {needed}")
    return ClaimResult(claim, verdict_of(cases), measure, cases)


def verdict_of(cases: tuple[Case, ...]) -> str:
    """The verdict on a claim with these cases.

    holds          no case contradicts it, and at least half hold: the others are ties
    holds in part  some cases contradict it, and at least half hold
    no difference  at least MIN_TIED of the cases are ties
    does not hold  fewer than half hold
    undecided      the cases that the intervals leave open would change the verdict
    """
    for_it = sum(case.holds is True for case in cases)
    against = sum(case.holds is False for case in cases)
    still_open = sum(case.is_open for case in cases)
    tied = len(cases) - for_it - against - still_open
    verdicts = {
        _verdict(for_it + still_open, against, tied),
        _verdict(for_it, against + still_open, tied),
        _verdict(for_it, against, tied + still_open),
    }
    return verdicts.pop() if len(verdicts) == 1 else UNDECIDED


def _verdict(for_it: int, against: int, tied: int) -> str:
    cases = for_it + against + tied
    if tied >= MIN_TIED * cases:
        return NO_DIFFERENCE
    if 2 * for_it < cases:
        return FAILS
    return IN_PART if against else HOLDS
