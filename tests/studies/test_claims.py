"""What studies concluded, against times whose answer is known."""

import tomllib
from importlib import resources
from typing import Any

import polars as pl
import pytest

from tests.judge.campaigns import around, results
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import RacedResults
from timpani.studies.claim import Case, Claim
from timpani.studies.claims import (
    CHECKS,
    FAILS,
    HOLDS,
    IN_PART,
    NO_DIFFERENCE,
    NOT_TESTABLE,
    UNDECIDED,
    ClaimResult,
    check_claim,
    claim_times,
    claims_of,
    verdict_of,
)
from timpani.study.compose import shipped_studies

SIZES = [2**power for power in range(21)]


def claim(check: str, algorithm: str = "default", **fields: Any) -> Claim:
    return Claim("s", "somebody", "something", "bcast", check, (algorithm,), **fields)


def checked(found: Claim, curves: dict[str, dict[int, list[float]]], **cell: Any) -> ClaimResult:
    times = claim_times(estimate_cells(RacedResults.from_rows(results(curves, **cell))))
    return check_claim(found, times, lambda _, name: name)


def curve(times: dict[int, float], launches: int = 6) -> dict[int, list[float]]:
    return {size: around(time, launches) for size, time in times.items()}


def flat_then(factor: float, base: float = 1.0) -> dict[int, float]:
    """Constant up to 8 KiB, then `factor` times as long, and from there proportional to the size."""
    return {size: base if size <= 8192 else factor * size / 16384 for size in SIZES}


RISING = curve(flat_then(4.0))
SLOW = curve(flat_then(3.0, base=1.3))


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (claim("rises-sharply-after", bytes=8192), HOLDS),
        (claim("rises-sharply-after", bytes=4096), FAILS),
        (claim("rises-sharply-after", bytes=65536), FAILS),  # proportional, and less than the jump before
        (claim("rises-sharply-after", "ring", bytes=8192), NOT_TESTABLE),
        (claim("mild-slope", to_bytes=4096), HOLDS),
        (claim("mild-slope", to_bytes=1048576), HOLDS),  # by a factor of 256 over 20 doublings: 1.32 each
        (claim("mild-slope", to_bytes=3), NOT_TESTABLE),
        (claim("jumps-within", bytes=16384), HOLDS),
        (claim("jumps-within", bytes=4096), FAILS),
        (claim("faster", "chain", from_bytes=16384), HOLDS),
        (claim("faster", "chain", from_bytes=4096), IN_PART),
        (claim("faster", "chain", to_bytes=8192), FAILS),
        (claim("slower", "chain", to_bytes=8192), HOLDS),
        (claim("slower", "chain", from_bytes=16384), FAILS),
        (claim("comparable", "chain", to_bytes=8192), FAILS),
        (claim("comparable", "default"), HOLDS),
        (claim("faster", "default"), NO_DIFFERENCE),  # a tie at all sizes
        (claim("most-similar-to-default", "chain"), NOT_TESTABLE),
        (claim("faster-placed", "chain", placements=("core", "socket")), NOT_TESTABLE),
        (claim("mapping-matters-only-for", "chain", placements=("core", "socket")), NOT_TESTABLE),
        (claim("with-ranks", rises=(2, 4)), NOT_TESTABLE),
        (claim("with-ranks", ranks=(256,), rises=(128, 256)), NOT_TESTABLE),
    ],
)
def test_a_claim_is_decided_by_the_times(found: Claim, verdict: str) -> None:
    assert checked(found, {"default": RISING, "chain": SLOW}).verdict == verdict


@pytest.mark.parametrize(
    ("for_it", "against", "ties", "still_open", "verdict"),
    [
        (9, 0, 0, 0, HOLDS),
        (8, 0, 2, 0, HOLDS),  # a tie is not against it
        (2, 0, 8, 0, NO_DIFFERENCE),
        (0, 2, 8, 0, NO_DIFFERENCE),
        (3, 0, 7, 0, FAILS),
        (0, 0, 8, 2, NO_DIFFERENCE),
        (0, 0, 7, 3, UNDECIDED),  # the open cases may be ties as well
        (5, 5, 0, 0, IN_PART),
        (15, 129, 0, 0, FAILS),  # a tenth is no part
        (9, 0, 0, 1, UNDECIDED),  # the open case would make it hold in part
        (6, 2, 0, 2, IN_PART),  # the open cases change nothing
        (0, 9, 0, 1, FAILS),
        (0, 0, 0, 3, UNDECIDED),
    ],
)
def test_the_verdict_follows_from_the_cases(
    for_it: int, against: int, ties: int, still_open: int, verdict: str
) -> None:
    def case(holds: bool | None, tied: bool = False) -> Case:
        return Case("", 1.0, None, None, holds, tied)

    cases = [case(True)] * for_it + [case(False)] * against + [case(None, tied=True)] * ties
    assert verdict_of((*cases, *[case(None)] * still_open)) == verdict


def test_the_nearest_is_the_one_with_the_smallest_distance() -> None:
    curves = {"default": RISING, "chain": SLOW, "ring": curve(dict.fromkeys(SIZES, 1.05))}
    found = checked(claim("most-similar-to-default", "chain"), curves)
    assert found.verdict == HOLDS
    assert found.cases[0].value == pytest.approx((14 * 0.2624 + 7 * 0.2877) / 21, abs=1e-3)
    assert checked(claim("most-similar-to-default", "ring"), curves).verdict == FAILS


def test_the_nearest_is_not_similar_when_it_is_far_off() -> None:
    far = {name: curve(dict.fromkeys(SIZES, time)) for name, time in (("default", 1.0), ("a", 3.0), ("b", 9.0))}
    assert [case.holds for case in checked(claim("most-similar-to-default", "a"), far).cases] == [True, False]


def test_the_nearest_by_a_hair_is_undecided() -> None:
    curves = {
        "default": RISING,
        "chain": curve({size: 1.001 * time for size, time in flat_then(4.0).items()}),
        "ring": curve({size: 1.002 * time for size, time in flat_then(4.0).items()}),
    }
    assert checked(claim("most-similar-to-default", "chain"), curves).cases[0].holds is None
    once = {name: {size: times[:1] for size, times in each.items()} for name, each in curves.items()}
    assert checked(claim("most-similar-to-default", "chain"), once).cases[0].holds is True  # by value


def test_an_interval_that_contains_the_limit_is_undecided() -> None:
    noisy = {size: [0.7, 0.8, 0.9, 1.2, 1.4, 1.6] for size in SIZES}
    found = checked(claim("comparable", "chain", to_bytes=8), {"default": curve({8: 1.0}), "chain": noisy})
    assert found.verdict == UNDECIDED
    assert found.cases[0].is_open


def test_few_launches_and_averages_decide_by_value() -> None:
    two = checked(claim("mild-slope", to_bytes=4096), {"default": {size: [1.0, 9.0] for size in SIZES}})
    assert (two.verdict, two.cases[0].low) == (HOLDS, None)


def test_fixed_algorithms_on_two_ranks_are_no_case() -> None:
    curves = {"chain": SLOW, "linear": RISING}
    fixed = claim("faster", "linear", among=("chain",), to_bytes=8192)
    assert checked(fixed, curves, ranks=4).verdict == HOLDS
    assert checked(fixed, curves, ranks=2).verdict == NOT_TESTABLE


def by_ranks(times: dict[int, float]) -> pl.DataFrame:
    return pl.concat(
        claim_times(estimate_cells(RacedResults.from_rows(results({"default": curve({8: time})}, ranks=ranks))))
        for ranks, time in times.items()
    )


@pytest.mark.parametrize(
    ("times", "verdict"),
    [
        ({64: 1.0, 128: 2.0, 256: 1.5}, HOLDS),
        ({64: 1.0, 128: 2.0, 256: 2.5}, IN_PART),
        ({64: 3.0, 128: 2.0, 256: 2.5}, FAILS),
    ],
)
def test_a_time_rises_to_some_ranks_and_falls_from_there(times: dict[int, float], verdict: str) -> None:
    found = check_claim(claim("with-ranks", rises=(64, 128), falls=(128, 256)), by_ranks(times), lambda _, name: name)
    assert found.verdict == verdict


def placed(factors: dict[str, float]) -> pl.DataFrame:
    """The same curve of each algorithm by core, and by socket longer by its factor."""
    by_core = claim_times(estimate_cells(RacedResults.from_rows(results(dict.fromkeys(factors, RISING)))))
    factor = pl.col("label").replace_strict(factors, return_dtype=pl.Float64)
    longer = [pl.col(name) * factor for name in ("time_us", "low_us", "high_us")]
    return pl.concat([by_core, by_core.with_columns(*longer, placement=pl.lit("socket"))])


@pytest.mark.parametrize(
    ("chain", "linear", "verdict"), [(1.2, 1.0, HOLDS), (1.0, 1.0, IN_PART), (1.2, 1.2, IN_PART), (1.0, 1.2, FAILS)]
)
def test_mapping_is_asked_of_both_placements(chain: float, linear: float, verdict: str) -> None:
    found = claim("mapping-matters-only-for", "chain", among=("linear",), placements=("core", "socket"))
    times = placed({"chain": chain, "linear": linear})
    assert check_claim(found, times, lambda _, name: name).verdict == verdict


@pytest.mark.parametrize(("factor", "verdict"), [(1.2, HOLDS), (1.0, NO_DIFFERENCE), (0.8, FAILS)])
def test_one_placement_is_faster_than_another(factor: float, verdict: str) -> None:
    found = claim("faster-placed", "chain", placements=("core", "socket"))
    assert check_claim(found, placed({"chain": factor}), lambda _, name: name).verdict == verdict


def shuffled(factor: float) -> pl.DataFrame:
    """Times on a host file, and longer by the factor with its groups shuffled."""
    times = placed({"default": factor})
    names = {"core": "category:1:2", "socket": "category:1:2:7"}
    return times.with_columns(pl.col("placement").replace_strict(names, return_dtype=pl.String))


@pytest.mark.parametrize(("factor", "verdict"), [(0.8, HOLDS), (1.0, NO_DIFFERENCE), (1.2, FAILS)])
def test_shuffling_the_groups_helps_only_where_times_are_shorter(factor: float, verdict: str) -> None:
    found = claim("faster-shuffled", placements=("category:1",), shuffled=True)
    result = check_claim(found, shuffled(factor), lambda _, name: name)
    assert result.verdict == verdict
    assert len(result.cases) == len(SIZES)
    assert all(case.tied for case in result.cases) is (factor == 1.0)


def test_shuffled_host_files_are_no_cases_of_other_conclusions_and_alone_decide_nothing() -> None:
    times = shuffled(1.2)
    helps = claim("faster-shuffled", placements=("category:1",), shuffled=True)
    alone = times.filter(placement="category:1:2:7")
    assert check_claim(helps, alone, lambda _, name: name).verdict == NOT_TESTABLE
    other = claim("rises-sharply-after", placements=("category:1",), bytes=8192)
    assert len(check_claim(other, times, lambda _, name: name).cases) == 1


def test_a_jump_within_the_noise_of_three_times_is_undecided() -> None:
    """At 64 B the median is twice the neighbors', but the interval reaches down to them."""
    noisy = {size: [1.0] * 7 for size in SIZES} | {64: [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]}
    result = checked(claim("jumps-within", bytes=512), {"default": noisy})
    (case,) = result.cases
    assert (case.value, case.low, case.high) == (2.0, 1.0, 2.0)
    assert result.verdict == UNDECIDED


def test_a_formula_in_logarithms_is_judged_by_its_residuals() -> None:
    power = curve({size: 0.5 * size**0.7 for size in SIZES})
    assert checked(claim("log-linear"), {"default": power}).verdict == HOLDS
    bowl = checked(claim("log-linear"), {"default": curve({size: 1.0 + size / 1000 for size in SIZES})})
    assert bowl.verdict == FAILS
    assert bowl.cases[0].value > 2


def test_scopes_are_by_the_beginning_of_a_placement() -> None:
    found = claim("faster", "chain", placements=("category:1",))
    assert [found.covers_placement(each) for each in ("category:1:2", "category:1", "category:12", "core")] == [
        True,
        True,
        False,
        False,
    ]


def test_every_line_of_the_file_has_a_check_and_a_shipped_study() -> None:
    text = (resources.files("timpani") / "studies" / "published" / "conclusions.toml").read_text()
    rows = tomllib.loads(text)["claims"]
    studies = {study.name for study in shipped_studies()}
    assert {row["check"] for row in rows if "check" in row} == set(CHECKS)
    assert all("check" in row or "needs" in row for row in rows)
    assert {row["study"] for row in rows} <= studies
    assert sum(len(claims_of(study)) for study in studies) == len(rows) == len({row["says"] for row in rows})
    for row in rows:
        shipped = next(study for study in shipped_studies() if study.name == row["study"]).study
        assert row["collective"] in {"T_s", "T_c", *(str(name) for name in shipped.collectives)}
