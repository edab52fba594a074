"""Ranks' buffers that this computer can't hold, where all ranks run on it."""

from timpani.campaign.plan.memory import too_large


def test_blocks_for_every_rank_grow_by_the_square_of_the_ranks() -> None:
    assert too_large("bcast", 256, 2**21, simulated=True) == ""
    assert too_large("alltoallv", 4, 2**21, simulated=True) == ""
    assert "GB of buffers" in too_large("alltoallv", 4096, 2**21, simulated=True)
    assert "GB of buffers" in too_large("allgather", 4096, 2**21, simulated=True)


def test_launches_that_are_not_simulated_have_the_memory_to_themselves() -> None:
    assert "GB of buffers" in too_large("alltoallv", 4096, 2**21, simulated=False)
    assert "at a time" not in too_large("alltoallv", 4096, 2**21, simulated=False)
