"""The collectives and algorithms of UCC's TL/UCP, and which of Open MPI's algorithms they equal."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from timpani.libraries.openmpi.tuned_rules.collectives import Unit, compared_bytes
from timpani.study.cell import Algorithm
from timpani.study.selection import Call

BINARY_RADIX = 2
"""With which a k-nomial algorithm is the binomial or recursive-doubling one."""


@dataclass(frozen=True)
class UcpAlgorithm:
    """An algorithm of TL/UCP that does what one of Open MPI's does.

    radix  the variable of its radix without UCC_TL_UCP_, which must be BINARY_RADIX; "": it has no radix
    """

    name: str
    radix: str = ""


@dataclass(frozen=True)
class UccCollective:
    """How UCC calls a collective of MPI, the size that it compares, and Open MPI's algorithms in it, by their names."""

    name: str
    unit: Unit
    algorithms: Mapping[str, UcpAlgorithm] = field(default_factory=dict)

    def compared(self, call: Call) -> int:
        """The size of `call` in bytes that ranges are compared with."""
        return compared_bytes(self.unit, call)

    def same_as(self, algorithm: Algorithm) -> UcpAlgorithm | None:
        """The algorithm that does what `algorithm` does; None where none does, or where it has parameters."""
        return None if algorithm.parameters else self.algorithms.get(algorithm.name)


COLLECTIVES = {
    "allgather": UccCollective(
        "allgather",
        "blocks",
        {name: UcpAlgorithm(name) for name in ("ring", "neighbor", "bruck", "sparbit", "linear")},
    ),
    "allgatherv": UccCollective("allgatherv", "blocks", {"ring": UcpAlgorithm("ring")}),
    "allreduce": UccCollective(
        "allreduce",
        "vector",
        {
            "ring": UcpAlgorithm("ring"),
            "recursive_doubling": UcpAlgorithm("knomial", "ALLREDUCE_KN_RADIX"),
            "rabenseifner": UcpAlgorithm("sra_knomial", "ALLREDUCE_SRA_KN_RADIX"),
        },
    ),
    "alltoall": UccCollective("alltoall", "blocks", {name: UcpAlgorithm(name) for name in ("pairwise", "bruck")}),
    "alltoallv": UccCollective("alltoallv", "nothing", {"pairwise": UcpAlgorithm("pairwise")}),
    "bcast": UccCollective(
        "bcast",
        "vector",
        {
            "binomial": UcpAlgorithm("knomial", "BCAST_KN_RADIX"),
            "scatter_allgather": UcpAlgorithm("sag_knomial", "BCAST_SAG_KN_RADIX"),
        },
    ),
    "gather": UccCollective("gather", "blocks", {"binomial": UcpAlgorithm("knomial", "GATHER_KN_RADIX")}),
    "reduce": UccCollective(
        "reduce",
        "vector",
        {
            "binomial": UcpAlgorithm("knomial", "REDUCE_KN_RADIX"),
            "rabenseifner": UcpAlgorithm("srg", "REDUCE_SRG_KN_RADIX"),
        },
    ),
    "reduce_scatter": UccCollective("reduce_scatterv", "vector", {"ring": UcpAlgorithm("ring")}),
    "reduce_scatter_block": UccCollective("reduce_scatter", "block", {"ring": UcpAlgorithm("ring")}),
}
"""By MPI's name. Rules that no algorithm of TL/UCP equals are left out."""

NAMES = {
    "allgather": ("knomial", "ring", "neighbor", "bruck", "sparbit", "linear", "batched"),
    "allgatherv": ("ring", "knomial"),
    "allreduce": ("knomial", "sra_knomial", "dbt", "sliding_window", "ring"),
    "alltoall": ("pairwise", "bruck", "onesided"),
    "alltoallv": ("pairwise", "hybrid", "onesided"),
    "barrier": ("knomial",),
    "bcast": ("knomial", "sag_knomial", "dbt"),
    "fanin": ("knomial",),
    "fanout": ("knomial",),
    "gather": ("knomial",),
    "gatherv": ("linear",),
    "reduce": ("knomial", "dbt", "srg"),
    "reduce_scatter": ("ring", "knomial"),
    "reduce_scatterv": ("ring",),
    "scatter": (),
    "scatterv": ("linear",),
}
"""By UCC's name of a collective, the names of TL/UCP's algorithms (`src/components/tl/ucp/*/*.c`)."""
