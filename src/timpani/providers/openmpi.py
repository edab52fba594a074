"""Open MPI: `coll/tuned` lists its algorithms by `ompi_info`, and switches them by MCA variables.

With `coll_tuned_use_dynamic_rules` set, each new communicator reads `coll_tuned_<op>_algorithm` again, so writing it
through MPI_T and duplicating the communicator switches inside one launch (ran on 4.1.4 and 5.0.11).
"""

import os
import re
import shlex
import subprocess
from collections import defaultdict

from timpani.errors import UserError
from timpani.native.find import Mpi
from timpani.providers.canonical_names import canonical_names
from timpani.providers.catalogue import AlgorithmInfo, Catalogue, Parameter
from timpani.providers.provider import AlgorithmSelection, Controls, Counting
from timpani.study.cell import Algorithm
from timpani.study.operations import COLLECTIVES

_ASK = ("--param", "coll", "tuned", "--level", "9", "--parsable")
_LINE = re.compile(r"mca:coll:tuned:param:(?P<variable>coll_tuned_\w+):(?P<field>\w+):(?P<value>.*)")
_SAME_DEFAULT = ("4.1.4", "5.0.11")
"""Versions whose default was seen to send the same messages and to take the same time whether or not algorithms can be
switched: `python -m bench default` compares."""

_DECIDE_YOURSELF = "0"  # the enumerator `ignore`

# Our name of a parameter, by what follows `coll_tuned_<op>_algorithm_`; `radix` is its algorithm's alone.
_PARAMETERS = {
    "segmentsize": "segment_bytes",
    "tree_fanout": "fanout",
    "chain_fanout": "chain_fanout",
    "max_requests": "max_requests",
}
_RADIX = re.compile(r"(?P<algorithm>\w+)_radix")


class OpenMpi:
    """Provider of Open MPI's `coll/tuned`."""

    overrides = re.compile(r"OMPI_MCA_coll(_\w+)?")  # which components there are, and what they are told

    def catalogue(self, mpi: Mpi) -> Catalogue:
        """Ask the ompi_info that belongs to `mpi`."""
        if mpi.info is None:
            raise UserError(f"{mpi} has no ompi_info, which lists its algorithms", "install the library whole")
        # What the user set in the environment would show up as defaults.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OMPI_MCA_coll_tuned_")}
        answer = subprocess.run([mpi.info, *_ASK], capture_output=True, text=True, check=False, env=environment)
        algorithms = read_algorithms(answer.stdout)
        if not algorithms:
            raise UserError(
                f"{mpi.info} lists no algorithm of coll/tuned ({answer.stderr.strip() or 'it says nothing'})",
                f"look at `{mpi.info} {' '.join(_ASK)}`",
            )
        return Catalogue(mpi.kind, mpi.version, algorithms)

    def counting(self, mpi: Mpi) -> Counting:
        """The monitoring component: MPI_T variables from 5.0 (ran on 5.0.11), files only on 4.1 (ran on 4.1.4)."""
        enable = ("--mca", "pml_monitoring_enable", "1")
        if mpi.numbers >= (5,):
            return Counting(enable, at_exit=False)
        output = ("--mca", "pml_monitoring_enable_output", "3", "--mca", "pml_monitoring_filename", "{prefix}")
        return Counting((*enable, *output), at_exit=True)

    def shared_start(self, mpi: Mpi, several_nodes: bool) -> AlgorithmSelection | None:
        """With dynamic rules on and no algorithm written, `tuned` takes its fixed decision, as without.

        On several nodes 5.0's default is HAN, which is kept out where algorithms are forced.
        """
        if mpi.version not in _SAME_DEFAULT or (several_nodes and mpi.numbers >= (5,)):
            return None
        return AlgorithmSelection(arguments=tuple(_dynamic_rules(mpi)))

    def selection(self, mpi: Mpi, info: AlgorithmInfo | None, algorithm: Algorithm) -> AlgorithmSelection:
        """One launch serves all algorithms whose variable can be written, the others have launches of their own.

        Parameters not asked for go back to their defaults.
        """
        if info is None:
            return AlgorithmSelection()
        arguments = _dynamic_rules(mpi)
        asked = dict(algorithm.parameters)
        controls = (
            (_algorithm_variable(info.collective), int(info.value)),
            *((each.control, asked.get(each.name, each.default)) for each in info.parameters),
        )
        if info.at_start:
            arguments += _arguments(controls)
            return AlgorithmSelection(arguments=tuple(arguments))
        return AlgorithmSelection(arguments=tuple(arguments), at_creation=controls)

    def setting(self, mpi: Mpi, info: AlgorithmInfo, algorithm: Algorithm) -> str:
        """Arguments to mpirun; parameters not asked for stay at their defaults."""
        asked = dict(algorithm.parameters)
        controls = (
            (_algorithm_variable(info.collective), int(info.value)),
            *((each.control, asked[each.name]) for each in info.parameters if each.name in asked),
        )
        return shlex.join(["mpirun", *_dynamic_rules(mpi), *_arguments(controls)])


def _dynamic_rules(mpi: Mpi) -> list[str]:
    """What lets coll/tuned be told an algorithm."""
    arguments = ["--mca", "coll_tuned_use_dynamic_rules", "1"]
    if mpi.numbers >= (5,):  # HAN takes most collectives from tuned on several nodes
        arguments += ["--mca", "coll", "^han"]
    return arguments


def _arguments(controls: Controls) -> list[str]:
    return [word for name, value in controls for word in ("--mca", name, str(value))]


def read_algorithms(parsable: str) -> dict[str, tuple[AlgorithmInfo, ...]]:
    """The algorithms of each collective that we measure, from what `ompi_info --parsable` prints."""
    values: dict[str, str] = {}
    helps: dict[str, str] = {}
    enumerators: defaultdict[str, dict[str, str]] = defaultdict(dict)  # per variable: name → id
    read_only: set[str] = set()
    for line in parsable.splitlines():
        if not (match := _LINE.fullmatch(line)):
            continue
        variable, value = match["variable"], match["value"]
        if match["field"] == "value":
            values[variable] = value
        elif match["field"] == "help":
            helps[variable] = value
        elif match["field"] == "status" and value == "read-only":
            read_only.add(variable)
        elif match["field"] == "enumerator":  # enumerator:value:6:binomial
            _, number, name = value.split(":", maxsplit=2)
            if number != _DECIDE_YOURSELF:
                enumerators[variable][name] = number
    algorithms = {}
    for collective in COLLECTIVES:
        variable = _algorithm_variable(collective)
        if ids := enumerators.get(variable):
            algorithms[collective] = tuple(
                AlgorithmInfo(
                    collective=collective,
                    name=canonical,
                    value=ids[name],
                    parameters=_parameters(variable, name, values, helps),
                    aliases=aliases,
                    at_start=variable in read_only,
                )
                for name, (canonical, aliases) in canonical_names(ids).items()
            )
    return algorithms


def _algorithm_variable(collective: str) -> str:
    return f"coll_tuned_{collective}_algorithm"


def _parameters(variable: str, algorithm: str, values: dict[str, str], helps: dict[str, str]) -> tuple[Parameter, ...]:
    found = []
    for control, value in values.items():
        suffix = control.removeprefix(f"{variable}_")
        radix = _RADIX.fullmatch(suffix)
        name = "radix" if radix and radix["algorithm"] == algorithm else _PARAMETERS.get(suffix)
        if suffix != control and name:
            found.append(Parameter(name, control, int(value), helps.get(control, "")))
    return tuple(found)
