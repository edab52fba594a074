"""Numbers of things, and shares, in words."""

import pytest

from timpani.study.words import per_cent


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (8.11e-7, "under 0.01 %"),
        (9.9e-5, "under 0.01 %"),
        (1e-4, "0.01 %"),
        (0.0235, "2.35 %"),
        (1.0, "100 %"),
    ],
)
def test_a_share_is_in_plain_digits(share: float, text: str) -> None:
    assert per_cent(share) == text
