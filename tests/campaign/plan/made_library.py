"""A made-up library: few algorithms, and nothing of it is installed, so that plans are made on any machine."""

from pathlib import Path

from timpani.libraries.available import AvailableAlgorithms, point_to_point_catalogue, transposes_catalogue
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameter, Restrictions, composed_catalogue
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi
from timpani.study.cell import OWN

MPI = Mpi("openmpi", "Open MPI", "4.1.4", Path("/mpi/bin/mpirun"), Path("/mpi/bin/mpicxx"), None)

_CONTROL = "coll_tuned_bcast_algorithm"
_SEGMENT = Parameter("segment_bytes", f"{_CONTROL}_segmentsize", 0, "bytes of a segment")
_FANOUT = Parameter("chain_fanout", f"{_CONTROL}_chain_fanout", 4, "chains")


def _catalogue(provider: str, *algorithms: AlgorithmInfo) -> Catalogue:
    by_collective: dict[str, tuple[AlgorithmInfo, ...]] = {}
    for each in algorithms:
        by_collective[each.collective] = (*by_collective.get(each.collective, ()), each)
    return Catalogue(provider, "4.1.4", by_collective, name="Open MPI")


LIBRARY = AvailableAlgorithms(
    mpi=MPI,
    library=LIBRARIES["openmpi"],
    collectives=_catalogue(
        "openmpi",
        AlgorithmInfo("bcast", "linear", "1", ()),
        AlgorithmInfo("bcast", "chain", "2", (_FANOUT, _SEGMENT)),
        AlgorithmInfo("bcast", "binomial", "6", (_SEGMENT,)),
        *(AlgorithmInfo(name, "linear", "1", ()) for name in ("allgather", "allreduce", "reduce", "scan", "barrier")),
    ),
    built_in=_catalogue(
        OWN,
        AlgorithmInfo("bcast", "knomial", "", (Parameter("radix", "", 4, "children of a rank", 2),)),
        AlgorithmInfo("bcast", "binomial", "", ()),
        AlgorithmInfo("allgather", "neighbor_exchange", "", (), restrictions=Restrictions(even=True)),
        AlgorithmInfo("scan", "linear", "", ()),
        AlgorithmInfo("scan", "recursive_doubling", "", ()),
    ),
    composed=composed_catalogue(),
    point_to_point=point_to_point_catalogue(MPI),
    transposes=transposes_catalogue(),
)
