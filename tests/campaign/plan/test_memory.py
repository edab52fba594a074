"""Ranks' buffers that this computer can't hold, where all ranks run on it."""

from timpani.campaign.plan.memory import buffer_bytes, too_large
from timpani.campaign.run.run import MIN_TIMEOUT, longest_silence


def test_blocks_for_every_rank_grow_by_the_square_of_the_ranks() -> None:
    assert too_large("bcast", 256, 2**21, simulated=True) == ""
    assert too_large("alltoallv", 4, 2**21, simulated=True) == ""
    assert "GB of buffers" in too_large("alltoallv", 4096, 2**21, simulated=True)
    assert "GB of buffers" in too_large("allgather", 4096, 2**21, simulated=True)


def test_launches_that_are_not_simulated_have_the_memory_to_themselves() -> None:
    assert "GB of buffers" in too_large("alltoallv", 4096, 2**21, simulated=False)
    assert "concurrent" not in too_large("alltoallv", 4096, 2**21, simulated=False)


def test_buffers_of_all_ranks_are_counted() -> None:
    assert buffer_bytes("allreduce", 4, 8) == 4 * 2 * 8
    assert buffer_bytes("alltoall", 4, 8) == 4 * 2 * 4 * 8


def test_a_large_call_may_be_silent_for_longer() -> None:
    assert longest_silence(MIN_TIMEOUT, 0.1, buffer_bytes("bcast", 2, 8)) < MIN_TIMEOUT + 1
    assert longest_silence(MIN_TIMEOUT, 0.1, buffer_bytes("allreduce", 2, 2**32)) > 5 * MIN_TIMEOUT
