"""What studies concluded, against times whose answer is known."""

import tomllib
from importlib import resources

import polars as pl
import pytest

from tests.tuning.campaigns import around, results
from timpani.campaign.read.cell_table import estimate_cells
from timpani.study.shipped import shipped_studies
from timpani.tuning.claims.checks import CHECKS
from timpani.tuning.claims.claim import Claim
from timpani.tuning.claims.claims import Finding, check_claim, claim_times, claims_of

SIZES = [2**power for power in range(21)]


def claim(check: str, algorithm: str = "default", size: int = 8192, *among: str) -> Claim:
    return Claim("s", "somebody", "something", check, "bcast", (algorithm,), size, among)


def checked(found: Claim, curves: dict[str, dict[int, list[float]]], **cell: object) -> Finding:
    times = claim_times(estimate_cells(results(curves, **cell)))
    return check_claim(found, times, lambda _, name: name)


def curve(times: dict[int, float], launches: int = 6) -> dict[int, list[float]]:
    return {size: around(time, launches) for size, time in times.items()}


RISING = curve({size: 1.0 if size <= 8192 else 2.0 * size / 8192 for size in SIZES})
SLOW = curve({size: 1.3 if size <= 8192 else 1.5 * size / 8192 for size in SIZES})


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (claim("rises-after"), "confirmed"),
        (claim("rises-after", size=4096), "refuted"),
        (claim("jumps-at", size=16384), "confirmed"),
        (claim("nearly-constant-to", size=4096), "confirmed"),
        (claim("nearly-constant-to", size=16384), "refuted"),
        (claim("faster-than-default-from", "chain", 16384), "confirmed"),
        (claim("faster-than-default-from", "chain", 32768), "holds in part"),
        (claim("faster-than-default-above", "chain", 8192), "confirmed"),
        (claim("slower-than-default-up-to", "chain", 8192), "confirmed"),
        (claim("comparable-to-default-up-to", "chain", 8192), "refuted"),
        (claim("best-from", "chain", 16384, "default"), "confirmed"),
        (claim("best-up-to", "chain", 8, "default"), "refuted"),
        (claim("best-up-to", "default", 8, "default"), "undecided"),
        (claim("nearest-to-default", "chain"), "not testable here"),
        (claim("mapping-matters-only-for", "chain"), "not testable here"),
        (claim("rises-with-ranks"), "not testable here"),
        (claim("rises-after", "ring"), "not testable here"),
        (claim("nearly-constant-to", size=3), "not testable here"),
    ],
)
def test_a_claim_is_decided_by_the_times(found: Claim, verdict: str) -> None:
    assert checked(found, {"default": RISING, "chain": SLOW}).verdict == verdict


def test_the_nearest_is_the_one_with_the_smallest_distance() -> None:
    curves = {"default": RISING, "chain": SLOW, "ring": curve(dict.fromkeys(SIZES, 1.05))}
    found = checked(claim("nearest-to-default", "chain"), curves)
    assert found.verdict == "confirmed"
    assert found.cases[0].value == pytest.approx((14 * 0.2624 + 7 * 0.2877) / 21, abs=1e-3)
    assert checked(claim("nearest-to-default", "ring"), curves).verdict == "refuted"


def test_the_nearest_by_a_hair_is_undecided() -> None:
    curves = {
        "default": RISING,
        "chain": curve(dict.fromkeys(SIZES, 1.001)),
        "ring": curve(dict.fromkeys(SIZES, 1.002)),
    }
    assert checked(claim("nearest-to-default", "chain"), curves).verdict == "undecided"
    once = {name: {size: times[:1] for size, times in each.items()} for name, each in curves.items()}
    assert checked(claim("nearest-to-default", "chain"), once).verdict == "confirmed"  # by value


def test_what_intervals_leave_open_is_undecided() -> None:
    noisy = {size: [0.7, 0.8, 0.9, 1.2, 1.4, 1.6] for size in SIZES}
    found = checked(claim("comparable-to-default-up-to", "chain", 8), {"default": curve({8: 1.0}), "chain": noisy})
    assert found.verdict == "undecided"
    assert found.cases[0].holds is None


def test_few_launches_and_averages_decide_by_value() -> None:
    two = checked(claim("nearly-constant-to", size=4096), {"default": {size: [1.0, 9.0] for size in SIZES}})
    assert (two.verdict, two.cases[0].low) == ("confirmed", None)


def test_mapping_is_asked_of_both_placements() -> None:
    base = claim_times(estimate_cells(results({"chain": RISING, "linear": RISING})))
    by_socket = base.with_columns(
        placement=pl.lit("socket"),
        **{
            name: pl.col(name) * pl.when(label="chain").then(1.2).otherwise(1.0)
            for name in ("time_us", "low_us", "high_us")
        },
    )
    found = claim("mapping-matters-only-for", "chain", 0, "linear")
    assert check_claim(found, pl.concat([base, by_socket]), lambda _, name: name).verdict == "confirmed"
    assert (
        check_claim(
            found, pl.concat([base, base.with_columns(placement=pl.lit("socket"))]), lambda _, name: name
        ).verdict
        == "holds in part"
    )


def test_every_line_of_the_file_has_a_check_and_a_shipped_study() -> None:
    text = (resources.files("timpani") / "published" / "studies.toml").read_text()
    rows = tomllib.loads(text)["claims"]
    studies = {study.name for study in shipped_studies()}
    assert {row["check"] for row in rows} <= set(CHECKS)
    assert {row["study"] for row in rows} <= studies
    assert sum(len(claims_of(study)) for study in studies) == len(rows)
    for row in rows:
        shipped = next(study for study in shipped_studies() if study.name == row["study"]).study
        assert row["collective"] in {str(name) for name in shipped.collectives}
