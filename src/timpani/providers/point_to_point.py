"""Messages between ranks of choice, sums inside one, what is built once: each has one way, the `default`."""

from timpani.native.find import Mpi
from timpani.providers.catalogue import AlgorithmInfo, Catalogue, Parameter, Restrictions
from timpani.study.cell import DEFAULT

_FIRST = Parameter("first", "", 0, "the rank that sends first")
_SECOND = Parameter("second", "", 1, "the rank it sends to")
_WINDOW = Parameter("window", "", 64, "messages under way before the receiver answers", minimum=1)

HALF = 0
"""The value of `pairs` that stands for as many pairs as the ranks make."""

_PARAMETERS: dict[str, tuple[Parameter, ...]] = {
    "latency": (_FIRST, _SECOND),
    "bandwidth": (_FIRST, _SECOND, _WINDOW),
    "bidirectional": (_FIRST, _SECOND, _WINDOW),
    "message_rate": (Parameter("pairs", "", HALF, "rank i sends to rank i + pairs; 0: half of the ranks"), _WINDOW),
    "prtt": (
        _FIRST,
        _SECOND,
        Parameter("messages", "", 1, "messages sent before the answer", minimum=1),
        Parameter("delay_ns", "", 0, "wait before each but the first"),
    ),
    "reduce_local": (),
    "setup": (),
}


def point_to_point_catalogue(mpi: Mpi) -> Catalogue:
    """What `mpi` offers beside collectives."""
    algorithms = {
        operation: (
            AlgorithmInfo(
                operation,
                DEFAULT,
                DEFAULT,
                parameters,
                restrictions=Restrictions(fewest_ranks=2) if parameters else Restrictions(),
            ),
        )
        for operation, parameters in _PARAMETERS.items()
    }
    return Catalogue(mpi.kind, mpi.version, algorithms)
