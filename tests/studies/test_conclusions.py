"""Every conclusion of the five studies: judged by the numbers that they published, and by tables that are planted.

The expected verdicts and counts were worked out from the tables by a separate computation, not by these checks.
"""

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import replace
from math import inf
from pathlib import Path

import polars as pl
import pytest

from timpani.campaign.folder.load import load
from timpani.errors import UserError
from timpani.studies.checks import CHECKS, check_of
from timpani.studies.claim import (
    FAILS,
    HOLDS,
    IN_PART,
    NO_DIFFERENCE,
    NOT_TESTABLE,
    UNDECIDED,
    Case,
    Claim,
    ClaimResult,
    Line,
    check_claim,
    claims_of,
    read_claims,
    verdict_of,
    where_it_fails,
)
from timpani.studies.claim_conditions import check_claims
from timpani.studies.sources import CONCLUSIONS
from timpani.studies.tables import COMPARISON, import_published, read_published
from timpani.study.cell import DEFAULT
from timpani.study.compose import shipped_studies

STUDIES = [path.stem for path in sorted(CONCLUSIONS.glob("*.toml"))]
CLAIMS = [claim for study in STUDIES for claim in claims_of(study)]
SHARPLY, DOUBLE = "{} rises sharply after 8192 B", "{} about double with each size beyond 8 KiB"
ALL_SHARPLY = "all four {} rise sharply after 8192 B"
ALWAYS, UP_AND_DOWN = "the {} always rises with the ranks", "{} rises with the ranks up to 128 and falls at 256"
SIMILAR = "on 256 ranks {} that behaves most like the default"
DIVERGES = "on 256 ranks {} that diverges most from the default"


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ClaimResult]:
    """The verdict on what the studies published, by the conclusion's words."""
    folder = tmp_path_factory.mktemp("published") / "malasi"
    import_published("malasi", folder, "timpani import")
    campaign = load(folder)
    studies = ("behrooz", "malasi", "della_siega", "assignment2", "holt")
    found = [each.published for name in studies for each in check_claims(read_published(name, COMPARISON), campaign)]
    return {each.claim.says: each for each in found}


@pytest.mark.parametrize(
    ("says", "verdict", "holding", "cases"),
    [
        (SHARPLY.format("the default's broadcast"), IN_PART, 4, 8),
        (SHARPLY.format("the default's scatter"), IN_PART, 5, 8),
        (ALL_SHARPLY.format("broadcasts"), FAILS, 14, 32),
        (ALL_SHARPLY.format("scatters"), IN_PART, 21, 32),
        (DOUBLE.format("all four broadcasts"), IN_PART, 191, 223),
        (DOUBLE.format("all four scatters"), IN_PART, 197, 224),
        ("the default's broadcast is nearly constant, or rises with a mild slope, up to 4096 B", IN_PART, 7, 8),
        (SIMILAR.format("knomial is the fixed broadcast"), HOLDS, 2, 2),
        (SIMILAR.format("binomial is the fixed scatter"), IN_PART, 1, 2),
        (DIVERGES.format("basic linear is the broadcast"), HOLDS, 1, 1),
        (DIVERGES.format("non-blocking linear is the scatter"), HOLDS, 1, 1),
        (UP_AND_DOWN.format("the default's broadcast"), IN_PART, 136, 147),
        (UP_AND_DOWN.format("the default's scatter"), IN_PART, 133, 147),
        ("the knomial broadcast falls from 64 ranks on", FAILS, 14, 42),
        ("the binary tree broadcast rises with the ranks", HOLDS, 144, 145),
        (ALWAYS.format("basic linear broadcast"), IN_PART, 141, 147),
        (ALWAYS.format("binomial scatter"), IN_PART, 145, 147),
        (ALWAYS.format("basic linear scatter"), IN_PART, 141, 147),
        (ALWAYS.format("non-blocking linear scatter"), HOLDS, 147, 147),
        ("scatter with ring allgather is the better broadcast for large messages", IN_PART, 4, 8),
        ("the chain broadcast is comparable to the default for small messages", FAILS, 0, 13),
        ("the chain broadcast is worse than the default for larger messages", HOLDS, 8, 8),
        ("the non-blocking linear scatter is better than the default for large messages", IN_PART, 7, 8),
        ("the basic linear scatter is worse than the default for large messages", HOLDS, 8, 8),
        ("the non-blocking linear scatter is better than basic linear, which waits in each send", HOLDS, 8, 8),
        ("the library switches its protocol somewhere below 512 B", HOLDS, 1, 1),
        ("the latency between two nodes of one leaf switch is 5 times that within a node", HOLDS, 1, 1),
        ("the throughput within a node is 3 times that between two nodes of one leaf switch", HOLDS, 1, 1),
        ("the throughput is the same on one leaf switch and across leaf switches", HOLDS, 1, 1),
        ("the latency across leaf switches is only 0.1 µs longer than on one", FAILS, 0, 1),
        ("OSU's benchmark has lower throughput than the study's on one leaf switch", FAILS, 0, 1),
        ("OSU's benchmark has a higher latency than the study's on one leaf switch", HOLDS, 1, 1),
    ],
)
def test_the_verdict_is_the_recomputed_one(
    published: dict[str, ClaimResult], says: str, verdict: str, holding: int, cases: int
) -> None:
    found = published[says]
    assert (found.verdict, found.holding, len(found.cases)) == (verdict, holding, cases)
    assert {case.low for case in found.cases} == {None}  # single runs have no interval


def test_studies_without_a_table_are_not_testable_by_what_they_published(published: dict[str, ClaimResult]) -> None:
    untested = {each.claim.by for each in published.values() if each.verdict == NOT_TESTABLE}
    assert untested == {"Della Siega", "Assignment 2"}
    assert {each.claim.says for each in published.values()} == {claim.says for claim in CLAIMS}


# Planted tables: by the kind of conclusion a time for which it holds, and times that contradict it, one for each part.

Time = Callable[[Claim, str, int, str, int], float]


def of_own(factor: float) -> Time:
    return lambda claim, label, *_: factor if label in claim.algorithms else 1.0


def by_printed(factor: float, base: float) -> Time:
    return lambda claim, label, *_: base + factor * float(claim.printed) if label in claim.algorithms else 1.0


def from_default(own: float, other: float, another: float) -> Time:
    others = {DEFAULT: 1.0, "x/other": other, "x/another": another}
    return lambda claim, label, *_: own if label in claim.algorithms else others[label]


def off_the_formula(factor: float) -> Time:
    return of_size(lambda size: size**0.7 * factor ** (-1) ** size.bit_length())


def of_size(time: Callable[[int], float]) -> Time:
    return lambda claim, label, ranks, placement, size: time(size)


def jump_of(factor: float) -> Time:
    return of_size(lambda size: factor if size == 128 else 1.0)


def jump_after(claim: Claim, label: str, ranks: int, placement: str, size: int) -> float:
    return 1.0 if size <= claim.bytes else 1.5 * size / claim.bytes


def with_ranks(rise: float, fall: float) -> Time:
    def time(claim: Claim, label: str, ranks: int, placement: str, size: int) -> float:
        rises = sum(ranks >= each for each in claim.rises[1:])
        return rise**rises * fall ** sum(ranks >= each for each in claim.falls[1:])

    return time


def placed(labels: Callable[[Claim], Iterable[str]], factor: float) -> Time:
    """`factor` of these algorithms at the first placement."""
    return lambda claim, label, ranks, placement, size: (
        factor if label in labels(claim) and placement == claim.placements[0] else 1.0
    )


def shuffled(factor: float) -> Time:
    return lambda claim, label, ranks, placement, size: factor if placement.count(":") == 3 else 1.0


# Just within and beyond each threshold.
PLANTS: dict[str, tuple[Time, list[Time]]] = {
    "faster": (of_own(0.96), [of_own(1.04)]),
    "slower": (of_own(1.04), [of_own(0.96)]),
    "not-slower": (of_own(1.02), [of_own(1.04)]),
    "comparable": (of_own(1.09), [of_own(1.11), of_own(0.9)]),
    "factor": (by_printed(1.0, 0.0), [by_printed(1.2, 0.0), by_printed(0.8, 0.0)]),
    "apart": (by_printed(1.0, 1.0), [by_printed(1.6, 1.0), by_printed(0.4, 1.0)]),
    "most-similar-to-default": (from_default(1.9, 2.0, 2.1), [from_default(1.5, 1.4, 1.6)]),
    "least-similar-to-default": (from_default(1.5, 1.4, 1.2), [from_default(1.4, 1.5, 1.2)]),
    "rises-sharply-after": (jump_after, [of_size(float), of_size(lambda size: 1.0)]),
    "about-doubles": (of_size(lambda size: size**0.6), [of_size(lambda size: size**0.4), of_size(lambda s: s**1.6)]),
    "mild-slope": (of_size(lambda size: size**0.24), [of_size(lambda size: size**0.26)]),
    "jumps-within": (jump_of(1.26), [jump_of(1.24)]),
    "with-ranks": (with_ranks(1.2, 0.8), [with_ranks(0.8, 0.8), with_ranks(1.2, 1.2)]),
    "log-linear": (
        off_the_formula(1.8),
        [off_the_formula(2.2), of_size(lambda size: size**0.7 * 9 ** (size in (64, 32768)))],
    ),
    "faster-placed": (placed(lambda claim: claim.algorithms, 0.96), [placed(lambda claim: claim.algorithms, 1.04)]),
    "faster-shuffled": (shuffled(0.96), [shuffled(1.04)]),
    "mapping-matters-only-for": (
        placed(lambda claim: claim.algorithms, 1.04),
        [
            placed(lambda claim: (), 1.04),
            placed(lambda claim: (*claim.algorithms, claim.among[0]), 1.04),
            placed(lambda claim: (*claim.algorithms, claim.among[1]), 1.04),
        ],
    ),
}


def planted(claim: Claim, time: Time) -> pl.DataFrame:
    """Times at all points within the scope of the claim, of its algorithms, their competitors and two others."""
    ranks = (
        claim.ranks or tuple({*claim.rises, *claim.falls}) or ((2,) if claim.collective.startswith("T_") else (4, 8))
    )
    places = [place if ":" not in place else f"{place}:2" for place in claim.placements] or ["core"]
    places += [f"{place}:7" for place in places if claim.shuffled]
    sizes = [0] if claim.collective.startswith("T_") else [2**power for power in range(22)]
    rows = [
        (claim.collective, label, count, place, "warm", "m", size, time(claim, label, count, place, size), None, None)
        for label in dict.fromkeys((*claim.algorithms, *claim.competitors, "x/other", "x/another"))
        for count in ranks
        for place in places
        for size in sizes
        if label != DEFAULT or DEFAULT in (*claim.algorithms, *claim.competitors)
    ]
    names = ("collective", "label", "ranks", "placement", "mode", "machine", "message_bytes", "time_us")
    bounds = dict.fromkeys(("low_us", "high_us"), pl.Float64)
    return pl.DataFrame(rows, schema=[*names, *bounds.items()], orient="row")


def verdict_on(claim: Claim, times: pl.DataFrame) -> str:
    return check_claim(claim, check_of(claim), times, lambda name: name).verdict


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.says)
def test_each_conclusion_holds_and_fails_on_planted_tables(claim: Claim) -> None:
    confirming, contradicting = PLANTS[claim.check]
    holding = planted(claim, confirming)
    assert verdict_on(claim, holding) == HOLDS
    failing = [times for times in (planted(claim, time) for time in contradicting) if not times.equals(holding)]
    assert [verdict_on(claim, times) for times in failing] == [FAILS] * len(failing) != []
    elsewhere = replace(claim, collective="barrier")
    assert verdict_on(claim, planted(elsewhere, confirming)) == NOT_TESTABLE


def test_each_kind_is_planted_and_each_line_of_the_files_is_of_a_shipped_study() -> None:
    assert {claim.check for claim in CLAIMS} == set(CHECKS) == set(PLANTS)
    assert len({claim.says for claim in CLAIMS}) == len(CLAIMS)
    studies = {study.name: study.study for study in shipped_studies()}
    for claim in CLAIMS:
        assert claim.collective in {"T_s", "T_c", *map(str, studies[claim.study].collectives)}


def test_it_holds_in_part_where_half_of_the_points_contradict_it() -> None:
    claim = next(claim for claim in CLAIMS if claim.check == "mapping-matters-only-for")
    half = placed(lambda claim: (*claim.algorithms, claim.among[1]), 1.1)
    times = planted(
        claim,
        lambda claim, label, ranks, placement, size: (
            half(claim, label, ranks, placement, size) if size > 100 or label in claim.algorithms else 1.0
        ),
    ).filter(pl.col("message_bytes") < 8192)
    found = check_claim(claim, check_of(claim), times, lambda name: name)
    assert found.verdict == IN_PART
    assert where_it_fails(found.cases) == ["128 B to 4 KiB (12 of 36)"]


# Verdicts from cases, and what bounds decide.


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
    line = Line(low=1.1, tie=1.2)
    ends = [(2.0, 2.0)] * for_it + [(0.5, 0.5)] * against + [(1.0, 1.0)] * ties + [(0.5, 2.0)] * still_open
    assert verdict_of(Case("", (low * high) ** 0.5, low, high, line) for low, high in ends) == verdict


def test_each_part_of_a_claim_has_to_hold() -> None:
    def verdict(**parts: list[float]) -> str:
        line = Line(low=1.1)
        return verdict_of(Case("", value, None, None, line, part=part) for part, all in parts.items() for value in all)

    assert verdict(rises=[2.0] * 100, falls=[1.0]) == FAILS  # though 99 % of all cases hold
    assert verdict(rises=[2.0, 2.0, 1.0], falls=[2.0]) == IN_PART


def test_the_worst_case_lies_farthest_beyond_the_line() -> None:
    line = Line(low=2.0)
    assert max([1.95, 1.71, 1.9], key=line.distance) == 1.71
    assert max([1.2, 3.0], key=Line(1 / 1.1, 1.1).distance) == 3.0


def with_bounds(times: pl.DataFrame, low: float, high: float) -> pl.DataFrame:
    return times.with_columns(low_us=pl.col("time_us") * low, high_us=pl.col("time_us") * high)


@pytest.mark.parametrize("check", sorted(set(CHECKS) - {"log-linear", "apart"}))  # which have no bounds
def test_times_that_too_few_launches_bound_decide_nothing(check: str) -> None:
    claim = next(claim for claim in CLAIMS if claim.check == check)
    times = planted(claim, PLANTS[check][0]).with_columns(low_us=pl.lit(0.0), high_us=pl.lit(inf))
    assert verdict_on(claim, times) == UNDECIDED


@pytest.mark.parametrize("check", ["comparable", "faster", "most-similar-to-default", "jumps-within"])
def test_an_interval_that_contains_the_limit_is_undecided(check: str) -> None:
    claim = next(claim for claim in CLAIMS if claim.check == check and not claim.collective.startswith("T_"))
    times = planted(claim, PLANTS[check][0])
    assert verdict_on(claim, with_bounds(times, 0.998, 1.002)) == HOLDS
    assert verdict_on(claim, with_bounds(times, 0.7, 1.4)) == UNDECIDED


def test_fixed_algorithms_on_two_ranks_are_no_case() -> None:
    claim = next(claim for claim in CLAIMS if claim.check == "faster" and claim.among)
    assert verdict_on(claim, planted(replace(claim, ranks=(2,)), of_own(0.5))) == NOT_TESTABLE


def test_scopes_are_by_the_beginning_of_a_placement_and_shuffled_host_files_are_apart() -> None:
    claim = Claim("", "", "", "bcast", placements=("category:1",))
    places = ("category:1:2", "category:1", "category:12", "core", "category:1:2:7")
    assert [claim.covers_placement(each) for each in places] == [True, True, False, False, False]
    assert replace(claim, shuffled=True).covers_placement("category:1:2:7")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no [[claims]]"),
        ("claims = 3", "has no [[claims]]"),
        ("[[claims]]\nsays = 'a'\ncollective = 'bcast'", "lacks check"),
        ("[[claims]]\nsays = 'a'\ncollective = 'bcast'\nalgoritms = []", "unknown key of a conclusion"),
        ("[[claims]]\nsays = 'a'\ncollective = 'bcast'\ncheck = 'faster'\nranks = 2", "ranks = 2 is no list"),
        ("[[claims]]\nsays = 'a'\ncollective = 'bcst'\ncheck = 'faster'", "did you mean bcast"),
        ("[[claims", "cannot be read"),
    ],
)
def test_a_file_of_conclusions_is_refused_in_one_line(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(text)
    with pytest.raises(UserError, match=said.replace("[", r"\[")):
        read_claims(tmp_path / "mine.toml")


def test_a_users_conclusions_are_tested_like_the_shipped_ones(tmp_path: Path) -> None:
    shipped = (CONCLUSIONS / "bcast-scatter-full-nodes.toml").read_text()
    (tmp_path / "mine.toml").write_text(shipped)
    import_published("malasi", tmp_path / "table", "timpani import")
    campaign = load(tmp_path / "table")
    mine, theirs = (
        check_claims(read_published(name, COMPARISON), campaign) for name in (str(tmp_path / "mine.toml"), "malasi")
    )
    assert mine == theirs
    own = shipped.replace('study = "bcast-scatter-full-nodes"\n', "")
    (tmp_path / "mine.toml").write_text(own)  # of no study: on the campaign's times alone
    alone = check_claims(read_published(str(tmp_path / "mine.toml"), COMPARISON), campaign)
    assert [each.here and each.here.verdict for each in alone] == [each.published.verdict for each in theirs]
    assert tomllib.loads(shipped)["study"] == "bcast-scatter-full-nodes"
    (tmp_path / "mine.toml").write_text(shipped.replace('"comparable"', '"comparabel"'))
    with pytest.raises(UserError, match="did you mean comparable"):
        check_claims(read_published(str(tmp_path / "mine.toml"), COMPARISON), campaign)
