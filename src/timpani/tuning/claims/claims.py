"""What studies concluded, checked against times: confirmed, refuted, or not to be tested with these."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any

import polars as pl

from timpani.study.cell import DEFAULT
from timpani.tuning.claims.checks import CHECKS
from timpani.tuning.claims.claim import Case, Claim, LackingTimesError

CONFIRMED, REFUTED, IN_PART = "confirmed", "refuted", "holds in part"
UNDECIDED, NOT_TESTABLE = "undecided", "not testable here"
"""Confirmed: all cases hold. Refuted: none does, and some are decided. Undecided: none is contradicted, and intervals
don't decide some."""

_TRUSTED = 0.9
"""What an interval over launches must cover at least to decide a claim; of 5 launches it covers 0.94."""


@dataclass(frozen=True)
class Finding:
    """What times say of a claim.

    verdict  one of the five above
    measure  what the cases' values are, and where the line is drawn
    cases    the numbers that decide
    why      why it can't be tested, else ""
    """

    claim: Claim
    verdict: str
    measure: str
    cases: tuple[Case, ...] = ()
    why: str = ""

    @property
    def holding(self) -> int:
        """The cases that hold."""
        return sum(case.holds is True for case in self.cases)


def claims_of(study: str) -> list[Claim]:
    """The conclusions of the study that the shipped study `study` repeats, in the file's order."""
    text = (resources.files("timpani") / "published" / "studies.toml").read_text(encoding="utf-8")
    rows: list[dict[str, Any]] = tomllib.loads(text)["claims"]
    lists = ("algorithms", "among")
    claims = [Claim(**{**row, **{name: tuple(row[name]) for name in lists if name in row}}) for row in rows]
    return [claim for claim in claims if claim.study == study]


def claim_times(cells: pl.DataFrame) -> pl.DataFrame:
    """The times of `estimate_cells` that claims are checked against: `time_us`, `low_us` and `high_us`.

    Bounds are those of the interval over launches where it covers enough to be trusted, the time itself where it is
    simulated and so without chance, null else: then a claim is checked by value.
    """
    simulated = pl.col("status").str.contains("simulated")
    trusted = pl.col("ci_coverage") >= _TRUSTED
    time = pl.coalesce("median_us", "osu_avg_us")
    return cells.filter(time > 0, time.is_finite()).select(
        *("collective", "label", "ranks", "placement", "mode", "machine", "message_bytes"),
        time.alias("time_us"),
        *(
            pl.when(simulated).then(time).when(trusted & pl.col(bound).is_not_null()).then(bound).alias(name)
            for name, bound in (("low_us", "ci_low_us"), ("high_us", "ci_high_us"))
        ),
    )


def check_claim(claim: Claim, times: pl.DataFrame, label_of: Callable[[str, str], str]) -> Finding:
    """Check `claim` against `times`, columns as `claim_times` has them.

    label_of  what the times call an algorithm of a collective, of which the claim has the name in study files
    """
    named = claim.called(lambda name: name if name == DEFAULT else label_of(claim.collective, name))
    check = CHECKS[claim.check]
    measure = check.measure(claim)
    own = times.filter(collective=claim.collective)
    if own.is_empty():
        why = f"no times of {claim.collective}" if times.height else "there are no times"
        return Finding(claim, NOT_TESTABLE, measure, why=why)
    try:
        cases = tuple(check.cases(named, own))
    except LackingTimesError as lacking:
        return Finding(claim, NOT_TESTABLE, measure, why=str(lacking))
    return Finding(claim, _verdict(cases), measure, cases)


def _verdict(cases: tuple[Case, ...]) -> str:
    answers = {case.holds for case in cases}
    if False in answers:
        return IN_PART if True in answers else REFUTED
    return CONFIRMED if answers == {True} else UNDECIDED
