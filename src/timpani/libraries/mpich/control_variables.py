"""MPICH's control variables, as a program that is built for the library reads them through MPI_T."""

import json
import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

from timpani.errors import UserError
from timpani.native.build import build
from timpani.native.mpi import Mpi

_EAGER_LIMIT = re.compile(r"MPIR_CVAR_CH4_\w*EAGER\w*")


@dataclass(frozen=True)
class Variable:
    """A control variable, as timpani-discover prints it."""

    name: str
    value: int | None
    description: str


def control_variables(mpi: Mpi, settings: Mapping[str, str]) -> list[Variable]:
    """The library's control variables in an environment with `settings`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MPIR_CVAR_")}
    answer = subprocess.run(
        [build(mpi) / "timpani-discover"],
        capture_output=True,
        text=True,
        check=False,
        env={**environment, **settings},
    )
    if answer.returncode != 0:
        raise UserError(
            f"{mpi} can't start a single process: {answer.stderr.strip()}", f"try `{mpi.mpirun} -n 1 hostname`"
        )
    return read_variables(answer.stdout)


def read_variables(lines: str) -> list[Variable]:
    """The control variables that timpani-discover printed."""
    objects = (json.loads(line) for line in lines.splitlines())
    return [Variable(each["name"], each.get("value"), each["description"]) for each in objects]


def eager_limits(mpi: Mpi) -> dict[str, int]:
    """The message sizes at which the library changes its protocol, by the control variable's name."""
    variables = control_variables(mpi, {})
    return {each.name: each.value for each in variables if each.value is not None and _EAGER_LIMIT.fullmatch(each.name)}
