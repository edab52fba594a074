"""Simulated ranks' buffers that this computer can't hold."""

from timpani.campaign.memory import too_large


def test_blocks_for_every_rank_grow_by_the_square_of_the_ranks() -> None:
    assert too_large("bcast", 256, 2**21) == ""
    assert too_large("alltoallv", 4, 2**21) == ""
    assert "GB of buffers" in too_large("alltoallv", 4096, 2**21)
    assert "GB of buffers" in too_large("allgather", 4096, 2**21)
