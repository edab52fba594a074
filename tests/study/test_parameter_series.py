"""One text for an algorithm with several values of its parameters."""

import pytest

from timpani.errors import UserError
from timpani.study.parameter_series import each_of, split_algorithms


@pytest.mark.parametrize(
    ("text", "algorithms"),
    [
        ("chain", ["chain"]),
        ("chain:fanout=4", ["chain:fanout=4"]),
        ("openmpi/chain:segment_bytes=4Ki:64Ki*4", [f"openmpi/chain:segment_bytes={n}" for n in (4096, 16384, 65536)]),
        ("chain:fanout=2:4,segment_bytes=0", ["chain:fanout=2,segment_bytes=0", "chain:fanout=4,segment_bytes=0"]),
        ("a:x=1:2,y=3:5+1", [f"a:x={x},y={y}" for x in (1, 2) for y in (3, 4, 5)]),
    ],
)
def test_a_series_stands_for_an_algorithm_of_each_value(text: str, algorithms: list[str]) -> None:
    assert list(each_of(text)) == algorithms


def test_a_list_of_algorithms_may_hold_series() -> None:
    assert split_algorithms("default,chain:segment_bytes=4K:16K*4,fanout=2:4,ring") == (
        "default",
        "chain:segment_bytes=4K:16K*4,fanout=2:4",
        "ring",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [("a:x=4:2", "downwards"), ("a:x=0:8", "increase"), ("a:x=1:9z", "'9z' is not a value"), ("a:x=1:2000+1", "1000")],
)
def test_an_invalid_series_is_refused(text: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        list(each_of(text))
