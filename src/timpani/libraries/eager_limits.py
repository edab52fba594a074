"""The message sizes at which a library itself changes its protocol, asked of the library that is installed."""

import re

from timpani.errors import UserError
from timpani.libraries.find import find_mpis
from timpani.libraries.registry import LIBRARIES

_BETWEEN_NODES = re.compile(r"btl_(openib|tcp|ofi|uct|ugni|usnic|portals4)_.+|MPIR_CVAR_CH4_(OFI|UCX)_.+")
"""Limits of transports that libraries take between nodes; within one, shared memory takes their place."""

_WITHIN_NODE = re.compile(r"btl_(vader|sm|smcuda)_.+")
"""Limits of shared memory, which reaches no other node."""


def within_node(name: str) -> bool:
    """Whether the limit of this name may be one of messages that don't leave their node."""
    return not _BETWEEN_NODES.fullmatch(name)


def between_nodes(name: str) -> bool:
    """Whether the limit of this name may be one of messages from node to node."""
    return not _WITHIN_NODE.fullmatch(name)


def eager_limits(kind: str, version: str) -> dict[str, int]:
    """Bytes of each limit by the library's name for it; none without such a library here, or if it doesn't show them.

    They are the present settings.
    """
    for mpi in find_mpis():
        if (mpi.kind, mpi.version) == (kind, version):
            try:
                limits = LIBRARIES[kind].eager_limits(mpi)
            except (UserError, OSError):  # a fit is worth having without them
                return {}
            return {name: limit for name, limit in sorted(limits.items()) if limit > 0}
    return {}
