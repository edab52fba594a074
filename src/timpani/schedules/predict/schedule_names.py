"""The schedules that algorithms of other programs follow, by the names that these give them."""

import re

from timpani.study.cell import OWN, Algorithm

_SUFFIX = re.compile(r"_(ompi|mpich|over|mpi)$")
"""PICO appends who implements an algorithm."""

_EQUAL_NAMES = {
    "basic_linear": "linear",
    "brucks": "bruck",
    "k_bruck": "bruck",
    "neighbor": "neighbor_exchange",
    "binary_tree": "binary",
    "in_order": "in_order_binary",
    "split_binary_tree": "split_binary",
    "recursive_distance_doubling": "recursive_halving",
    "modified_bruck": "bruck",
    "nonoverlapping": "reduce_bcast",
    "non_overlapping": "reduce_bcast",
    "reduce_scatter_allgather": "rabenseifner",
}
"""Names of libraries (Open MPI, MPICH, Fujitsu MPI) and of PICO for Timpani's algorithms."""

_BINE = {
    "bcast": (("bine", r"bine_lat\w*|bine_binomial_tree(_tmpbuf)?_utofu_0_1"),),
    "reduce": (("bine", r"bine_lat|bine_binomial_tree_utofu_0_1"),),
    "allgather": (
        ("bine_blocks", r"bine_block_by_block(_over)?(_any_even)?|sparbit|bine_vec_doubling_blocks_utofu_0_1"),
        ("bine", r"bine_(2_blocks|send|permute)\w*|bine_vec_doubling_cont_\w+_0_1"),
    ),
    "reduce_scatter": (
        ("bine_blocks", r"bine_block_by_block(_over)?(_any_even)?"),
        ("bine", r"bine_(send|permute)\w*|bine_vec_halving_cont_\w+_0_1"),
    ),
    "allreduce": (("bine", r"bine_lat|bine_l_utofu_0_1"), ("bine_allgather", r"bine_bdw\w*|bine_b_cont_utofu_0_1")),
}
"""Patterns of PICO's names: what is sent whole, in ranges or block by block; on Fugaku by one port, unsegmented."""

_SCHEDULES = {
    "allgather": ("bruck", "gather_bcast", "neighbor_exchange", "recursive_doubling", "ring"),
    "allreduce": ("rabenseifner", "recursive_doubling", "reduce_bcast", "ring"),
    "alltoall": ("bruck", "pairwise"),
    "bcast": ("binary", "binomial", "knomial", "linear", "scatter_allgather", "scatter_allgather_ring", "split_binary"),
    "gather": ("binomial", "linear"),
    "reduce": ("binary", "binomial", "in_order_binary", "linear", "rabenseifner"),
    "reduce_scatter": ("pairwise", "recursive_halving", "ring"),
    "scatter": ("binomial", "linear"),
}
"""Names of others that are Timpani's, by collective: the same name may mean another schedule elsewhere."""


_WHOLE = ("binary", "in_order_binary", "split_binary")
"""Schedules that libraries don't cut into segments where their user names the algorithm alone."""


def schedule_named(collective: str, name: str) -> Algorithm | None:
    """Timpani's schedule with the messages of the algorithm called `name`; None if it is unknown, as a default's is."""
    plain = name.lower().replace("-", "_").removeprefix("default_")
    if re.search(r"segmented(_over)?$", plain):  # segments of an unknown size
        return None
    plain = _SUFFIX.sub("", _SUFFIX.sub("", plain))
    for schedule, pattern in _BINE.get(collective, ()):
        if re.fullmatch(pattern, plain):
            return Algorithm(OWN, schedule)
    plain = _EQUAL_NAMES.get(plain, plain)
    parameters = (("segment_bytes", 0),) if plain in _WHOLE else ()
    return Algorithm(OWN, plain, parameters) if plain in _SCHEDULES.get(collective, ()) else None
