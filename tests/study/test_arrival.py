"""Arrival patterns as users write them."""

import pytest

from timpani.errors import UserError
from timpani.study.cell import ArrivalPattern, check_arrival
from timpani.study.compose import compose


@pytest.mark.parametrize(
    ("text", "pattern", "recorded"),
    [
        ("sorted:2x", ArrivalPattern("sorted", 2.0, in_calls=True), "sorted:2x"),
        ("one_late:1000us", ArrivalPattern("one_late", 1_000_000, in_calls=False), "one_late:1ms"),
        ("one_late:0.05ms", ArrivalPattern("one_late", 50_000, in_calls=False), "one_late:50us"),
        (" sorted:10s", ArrivalPattern("sorted", 10_000_000_000, in_calls=False), "sorted:10s"),
        ("together", None, "together"),
    ],
)
def test_one_pattern_has_one_text(text: str, pattern: ArrivalPattern | None, recorded: str) -> None:
    assert ArrivalPattern.parse(text.strip()) == pattern
    assert check_arrival(text) == recorded


@pytest.mark.parametrize(
    "text", ["late", "one_late", "one_late:", "one_late:0us", "sorted:11s", "random:-1us", "sorted:1001x", "recorded:p"]
)
def test_an_invalid_pattern_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UserError, match="is not an arrival pattern") as refused:
        check_arrival(text)
    assert "one_late:D" in refused.value.next_step


def test_the_pattern_is_a_study_key_for_collectives_by_timpanis_method() -> None:
    assert compose(["bcast"], {"arrival": "one_late:1000us"}).arrival == "one_late:1ms"
    with pytest.raises(UserError, match="latency is no collective"):
        compose(["latency"], {"arrival": "one_late:1ms"})
    with pytest.raises(UserError, match="OSU's protocol"):
        compose(["bcast"], {"arrival": "one_late:1ms", "method": "osu"})
