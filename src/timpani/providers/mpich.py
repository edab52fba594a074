"""MPICH: control variables name the algorithms in their descriptions, and force them through the environment.

A name that the library does not know aborts the launch. Whether a call that the algorithm can't serve is an error or
silently goes to another algorithm is a variable too. It is set once MPI is up: MPI_Init itself calls collectives that a
forced algorithm may not serve (5.0.2: allreduce by reduce_scatter_allgather), and would end there.
"""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from timpani.errors import UserError
from timpani.native.build import build
from timpani.native.find import Mpi
from timpani.providers.catalogue import Catalogue, Offer, Parameter
from timpani.providers.provider import Forcing
from timpani.providers.words import spell
from timpani.study.cell import Algorithm
from timpani.study.collectives import COLLECTIVES

# `auto` decides by itself; `nb` starts the nonblocking collective and waits, whichever algorithm that takes.
_NO_ALGORITHMS = ("auto", "nb")

_FALLBACK_IS_ERROR = ("MPIR_CVAR_COLLECTIVE_FALLBACK", 0)  # the first of its choices `error print silent`

# Our name of a parameter, by the end of the library's variable MPIR_CVAR_<OP>_<PART>_…; <PART> says whose it is.
_PARAMETERS = {"KVAL": "radix", "CHUNK_SIZE": "segment_bytes"}


@dataclass(frozen=True)
class Variable:
    """A control variable, as timpani-discover prints it."""

    name: str
    value: int | None
    description: str


class Mpich:
    """Provider of MPICH's own collectives, those above its devices."""

    def catalogue(self, mpi: Mpi) -> Catalogue:
        """Ask the library through MPI_T, by a program built for it."""
        answer = subprocess.run([build(mpi) / "timpani-discover"], capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            raise UserError(
                f"{mpi} can't start a single process: {answer.stderr.strip()}", f"try `{mpi.mpirun} -n 1 hostname`"
            )
        return Catalogue(mpi.kind, mpi.version, read_offers(read_variables(answer.stdout)))

    def forcing(self, mpi: Mpi, offer: Offer | None, algorithm: Algorithm) -> Forcing:
        """A launch for each algorithm; nothing is left to the devices' own collectives or to a silent fallback."""
        if offer is None:
            return Forcing()
        controls = {parameter.name: parameter.control for parameter in offer.parameters}
        return Forcing(
            environment={
                _algorithm_variable(offer.collective): offer.value,
                "MPIR_CVAR_DEVICE_COLLECTIVES": "none",
                **{controls[name]: str(value) for name, value in algorithm.parameters},
            },
            controls=(_FALLBACK_IS_ERROR,),
        )


def read_variables(lines: str) -> list[Variable]:
    """The control variables that timpani-discover printed."""
    objects = (json.loads(line) for line in lines.splitlines())
    return [Variable(each["name"], each.get("value"), each["description"]) for each in objects]


def read_offers(variables: Iterable[Variable]) -> dict[str, tuple[Offer, ...]]:
    """The offers of each collective that we measure."""
    by_name = {variable.name: variable for variable in variables}
    offers = {}
    for collective in COLLECTIVES:
        variable = by_name.get(_algorithm_variable(collective))
        if variable is None:
            continue
        told = {name: text for name, text in read_algorithms(variable.description) if name not in _NO_ALGORITHMS}
        offers[collective] = tuple(
            Offer(collective, word, name, tuple(_parameters(collective, name, told, by_name)), aliases)
            for name, (word, aliases) in spell(told).items()
        )
    return offers


def read_algorithms(description: str) -> list[tuple[str, str]]:
    """Names and explanations of a variable's description.

    MPICH 5 writes a line for each. MPICH 4.0 prints the same without its line ends, so that an explanation runs into
    the next name: there the names' column, of one width for all, tells where a name begins.
    """
    if "\n" in description:
        return re.findall(r"^(\w+) +- (.*)$", description, re.MULTILINE)
    column = description[description.find("JSON_FILE)") + len("JSON_FILE)") :]
    width = column.find("- ")
    starts = [dash.start() - width for dash in re.finditer(r"(?<= )- Force", column)]
    entries = [column[start:end] for start, end in zip(starts, [*starts[1:], len(column)], strict=True)]
    return [(entry[:width].strip(), entry[width + len("- ") :]) for entry in entries]


def _algorithm_variable(collective: str) -> str:
    return f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM"


def _parameters(
    collective: str, algorithm: str, told: dict[str, str], variables: dict[str, Variable]
) -> Iterator[Parameter]:
    """The variables MPIR_CVAR_<OP>_<PART>_KVAL and …_CHUNK_SIZE that are this algorithm's.

    The first word of the part is met in the algorithm's name, the others there or in its explanation:
    TREE_PIPELINE is that of `pipelined_tree`, and that of a `tree` explained as 'pipelined tree'.
    """
    if f"k_{algorithm}" in told:  # `brucks` is the one of radix 2, `k_brucks` that of radix k
        return
    pattern = re.compile(rf"MPIR_CVAR_{collective.upper()}_(?P<part>\w+)_(?P<end>{'|'.join(_PARAMETERS)})")
    said = f"{algorithm} {told[algorithm]}".lower()
    for variable in variables.values():
        match = pattern.fullmatch(variable.name)
        if match is None or variable.value is None:
            continue
        first, *others = match["part"].lower().split("_")
        if first in algorithm and all(word in said for word in others):
            yield Parameter(_PARAMETERS[match["end"]], variable.name, variable.value, variable.description)
