"""Every conclusion of the five studies, judged by the numbers that they published.

The expected verdicts and counts were worked out from the tables by a separate computation, not by these checks.
"""

import pytest

from timpani.campaign.folder.load import load
from timpani.studies.claims import FAILS, HOLDS, IN_PART, NOT_TESTABLE, ClaimResult
from timpani.studies.claims_text import check_claims
from timpani.studies.tables import COMPARISON, import_published, read_published


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ClaimResult]:
    """The verdict on what the studies published, by the conclusion's words."""
    folder = tmp_path_factory.mktemp("published") / "malasi"
    import_published("malasi", folder, "timpani import")
    campaign = load(folder)
    studies = ("behrooz", "malasi", "della_siega", "assignment2", "holt")
    found = [each.published for name in studies for each in check_claims(read_published(name, COMPARISON), campaign)]
    return {each.claim.says: each for each in found}


DEFAULT_RISES = "the default's {} rises sharply after 8192 B"
ALWAYS = "the {} always rises with the ranks"


@pytest.mark.parametrize(
    ("says", "verdict", "holding", "cases"),
    [
        (DEFAULT_RISES.format("broadcast"), IN_PART, 4, 8),
        (DEFAULT_RISES.format("scatter"), IN_PART, 5, 8),
        ("the default's broadcast is nearly constant, or rises with a mild slope, up to 4096 B", HOLDS, 8, 8),
        ("on 256 ranks knomial is the fixed broadcast that behaves most like the default", HOLDS, 2, 2),
        ("on 256 ranks binomial is the fixed scatter that behaves most like the default", IN_PART, 1, 2),
        ("the default's broadcast rises with the ranks up to 128 and falls at 256", IN_PART, 136, 147),
        ("the knomial broadcast falls from 64 ranks on", FAILS, 14, 42),
        (ALWAYS.format("basic linear broadcast"), IN_PART, 141, 147),
        (ALWAYS.format("binomial scatter"), IN_PART, 145, 147),
        (ALWAYS.format("basic linear scatter"), IN_PART, 141, 147),
        (ALWAYS.format("non-blocking linear scatter"), HOLDS, 147, 147),
        ("scatter with ring allgather is the better broadcast for large messages, from 128 KiB on", HOLDS, 4, 4),
        ("the chain broadcast is comparable to the default for small messages", FAILS, 0, 13),
        ("the chain broadcast is worse than the default for larger messages", HOLDS, 8, 8),
        ("the non-blocking linear scatter is better than the default for large messages", IN_PART, 7, 8),
        ("the basic linear scatter is worse than the default for large messages", HOLDS, 8, 8),
        ("the library switches its protocol somewhere below 512 B", HOLDS, 1, 1),
        ("the latency between two nodes of one leaf switch is 5 times that within a node", HOLDS, 1, 1),
        ("the throughput within a node is 3 times that between two nodes of one leaf switch", HOLDS, 1, 1),
        ("the throughput is the same on one leaf switch and across leaf switches", HOLDS, 1, 1),
        ("the latency across leaf switches is only 0.1 µs longer than on one", FAILS, 0, 1),
        ("OSU's benchmark has lower throughput than the study's on one leaf switch", FAILS, 0, 1),
    ],
)
def test_the_verdict_is_the_recomputed_one(
    checked: dict[str, ClaimResult], says: str, verdict: str, holding: int, cases: int
) -> None:
    found = checked[says]
    assert (found.verdict, found.holding, len(found.cases)) == (verdict, holding, cases)


@pytest.mark.parametrize(
    ("says", "where", "value"),
    [
        (DEFAULT_RISES.format("broadcast"), "128 ranks, 16 KiB", 8.52),
        ("the default's broadcast rises with the ranks up to 128 and falls at 256", "128 to 256 ranks, 32 KiB", 0.632),
        ("the non-blocking linear scatter is better than the default for large messages", "64 KiB", 1.33),
        ("the library switches its protocol somewhere below 512 B", "256 B", 1.526),
        ("the latency between two nodes of one leaf switch is 5 times that within a node", "leaf_nodes", 5.06),
        ("the throughput within a node is 3 times that between two nodes of one leaf switch", "leaf_nodes", 3.20),
        ("the latency across leaf switches is only 0.1 µs longer than on one", "random_nodes", 0.1665),
        ("OSU's benchmark has lower throughput than the study's on one leaf switch", "osu", 0.753),
    ],
)
def test_the_number_behind_a_verdict(checked: dict[str, ClaimResult], says: str, where: str, value: float) -> None:
    (case,) = [case for case in checked[says].cases if where in case.where and case.value == pytest.approx(value, 2e-3)]
    assert case.low is None  # single runs have no interval


def test_similar_is_both_the_nearest_and_near(checked: dict[str, ClaimResult]) -> None:
    knomial = checked["on 256 ranks knomial is the fixed broadcast that behaves most like the default"].cases
    binomial = checked["on 256 ranks binomial is the fixed scatter that behaves most like the default"].cases
    assert [case.value for case in knomial] == pytest.approx([0.133, 0.133], abs=1e-3)
    assert [case.value for case in binomial] == pytest.approx([1.731, 1.731], abs=1e-3)
    assert [case.holds for case in binomial] == [True, False]  # the nearest of three, and off by a factor of 5.6


def test_studies_without_a_table_are_not_testable_by_what_they_published(checked: dict[str, ClaimResult]) -> None:
    untested = [each for each in checked.values() if each.claim.by in ("Della Siega", "Assignment 2")]
    assert {each.verdict for each in untested} == {NOT_TESTABLE}
    assert len(untested) == 21
    assert len(checked) == 43
