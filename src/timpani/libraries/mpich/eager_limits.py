"""The message sizes at which MPICH changes its protocol, among its control variables."""

import re

from timpani.libraries.mpich.algorithms import control_variables
from timpani.native.mpi import Mpi

_LIMIT = re.compile(r"MPIR_CVAR_CH4_\w*EAGER\w*")


def eager_limits(mpi: Mpi) -> dict[str, int]:
    """By the control variable's name."""
    variables = control_variables(mpi, {})
    return {each.name: each.value for each in variables if each.value is not None and _LIMIT.fullmatch(each.name)}
