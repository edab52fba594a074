"""Which of Open MPI's algorithms are one schedule on 2 ranks, where a tree or a chain is a single message.

Counted on 4.1.4 at 1 B to 1 MiB (`timpani run … --prove`). Algorithms that exchange messages are listed only where the
rounds of their schedules agree as well: counts show no order. Scatter's linear_nb sends what linear sends, but takes
another time for it on 2 ranks (demo study), so it is not listed.
"""

ON_TWO_RANKS = {
    "bcast": (
        ("binary", "binomial", "chain", "knomial", "linear", "pipeline"),
        ("scatter_allgather", "scatter_allgather_ring"),
    ),
    "reduce": (("binary", "binomial", "chain", "linear", "pipeline"),),
    "scatter": (("binomial", "linear"),),
    "allreduce": (("rabenseifner", "ring", "segmented_ring"), ("linear", "nonoverlapping")),
}
