"""Ranks' buffers that this computer can't hold, where all ranks run on it."""

import os

import pytest

from timpani.campaign.plan.count_limits import buffer_bytes, too_large
from timpani.campaign.run.run import MIN_TIMEOUT, longest_silence


@pytest.fixture(autouse=True)
def memory_of_24_gib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 24 * 2**18}.__getitem__)


@pytest.mark.parametrize(
    ("collective", "ranks", "in_place", "launches", "said"),
    [
        ("bcast", 2, False, 1, ""),
        ("bcast", 2, False, 2, "of 2 concurrent launches take 17.2 GB, more than 50% of the 25.8 GB of memory here"),
        ("allreduce", 2, False, 1, "the buffers take 17.2 GB, more than 50% of the 25.8 GB of memory here"),
        ("allreduce", 2, True, 1, ""),
        ("alltoall", 2, False, 1, "the buffers take 34.4 GB"),
    ],
)
def test_buffers_of_4_gib_that_do_not_fit_are_refused(
    collective: str, ranks: int, in_place: bool, launches: int, said: str
) -> None:
    refused = too_large(collective, ranks, 2**32, in_place, launches)
    assert said in refused
    assert bool(refused) == bool(said)


@pytest.mark.parametrize(
    ("collective", "buffers", "buffers_in_place"),
    [
        ("bcast", 4, 4),
        ("scatter", 4 + 4, 4 + 3),
        ("gather", 4 + 4, 3 + 4),
        ("reduce", 4 + 1, 4),
        ("allreduce", 4 + 4, 4),
        ("allgather", 4 + 16, 16),
        ("reduce_scatter", 4 + 1, 4),
        ("alltoall", 16 + 16, 16),
        ("latency", 4 + 4, 4 + 4),
    ],
)
def test_buffers_of_four_ranks_are_counted(collective: str, buffers: int, buffers_in_place: int) -> None:
    assert buffer_bytes(collective, 4, 8) == 8 * buffers
    assert buffer_bytes(collective, 4, 8, in_place=True) == 8 * buffers_in_place


def test_a_large_call_may_be_silent_for_longer() -> None:
    assert longest_silence(MIN_TIMEOUT, 0.1, buffer_bytes("bcast", 2, 8)) < MIN_TIMEOUT + 1
    assert longest_silence(MIN_TIMEOUT, 0.1, buffer_bytes("bcast", 2, 2**32)) > 10 * MIN_TIMEOUT
