"""Open MPI: `coll/tuned` lists its algorithms by `ompi_info`, and switches them by MCA variables.

With `coll_tuned_use_dynamic_rules` set, each new communicator reads `coll_tuned_<op>_algorithm` again, so writing it
through MPI_T and duplicating the communicator switches inside one launch (ran on 4.1.4 and 5.0.11). Most parameters are
read then too; broadcast's `knomial_radix` and scatter's `max_requests` at each call (sources of 4.1.4 and 5.0.10).
"""

import os
import re
import subprocess
from collections import defaultdict

from timpani.errors import UserError
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameter, Parameters, Restrictions, canonical_names
from timpani.libraries.library import AlgorithmSelection, Controls
from timpani.libraries.openmpi.settings import ahead_of_tuned
from timpani.libraries.openmpi.tuned import TWO_RANKS
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.operations import COLLECTIVES
from timpani.study.sizes import LARGEST

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
_READ_AT_CALL = ("radix", "max_requests")
_RESTRICTIONS = {TWO_RANKS: Restrictions(max_ranks=2)}
"""On more ranks it refuses the call (seen with 4.1.7 and 5.0.11)."""

_RADIX = re.compile(r"(?P<algorithm>\w+)_radix")

# What is valid, by our name: the library takes another fan-out for one of these without a word, and never ends with
# another radix.
_LIMITS = {"radix": (2, LARGEST), "chain_fanout": (1, 32)}


def catalogue(mpi: Mpi) -> Catalogue:
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
    return Catalogue(mpi.kind, mpi.version, algorithms, name=mpi.name)


def shared_start(mpi: Mpi, several_nodes: bool) -> AlgorithmSelection | None:
    """With dynamic rules on and no algorithm written, `tuned` takes its fixed decision, as without.

    On several nodes 5.0's default is HAN, which is kept out where algorithms are forced, as hcoll and ucc are.
    """
    if mpi.version not in _SAME_DEFAULT or ahead_of_tuned(mpi) or (several_nodes and mpi.numbers >= (5,)):
        return None
    return AlgorithmSelection(_dynamic_rules(mpi))


def selection(mpi: Mpi, info: AlgorithmInfo | None, algorithm: Algorithm) -> AlgorithmSelection:
    """One launch is enough for all algorithms whose variable can be written; the others have separate launches.

    Parameters not asked for go back to their defaults, at the communicator's creation or at the call, where the library
    reads them.
    """
    if info is None:
        return AlgorithmSelection()
    asked = dict(algorithm.parameters)
    parameters = tuple((each.control, asked.get(each.name, each.default)) for each in info.parameters)
    controls = ((_algorithm_variable(info.collective), int(info.value)), *parameters)
    if info.at_start:
        return AlgorithmSelection((*_dynamic_rules(mpi), *_written(controls)))
    read_at_call = {each.control for each in info.parameters if each.name in _READ_AT_CALL}
    at_call = tuple((control, value) for control, value in parameters if control in read_at_call)
    return AlgorithmSelection(_dynamic_rules(mpi), at_creation=controls, at_call=at_call)


def setting(mpi: Mpi, info: AlgorithmInfo, algorithm: Algorithm) -> Parameters:
    """Those of the measurement; parameters not asked for stay at their defaults."""
    asked = dict(algorithm.parameters)
    controls = (
        (_algorithm_variable(info.collective), int(info.value)),
        *((each.control, asked[each.name]) for each in info.parameters if each.name in asked),
    )
    return (*_dynamic_rules(mpi), *_written(controls))


def _dynamic_rules(mpi: Mpi) -> Parameters:
    """Settings by which coll/tuned obeys a choice, and that keep out what would take the call from it."""
    rules = ("coll_tuned_use_dynamic_rules", "1")
    others = (*(("han",) if mpi.numbers >= (5,) else ()), *ahead_of_tuned(mpi))  # HAN: most on several nodes
    return (rules, ("coll", f"^{','.join(others)}")) if others else (rules,)


def _written(controls: Controls) -> Parameters:
    return tuple((name, str(value)) for name, value in controls)


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
                    restrictions=_RESTRICTIONS.get(name, Restrictions()),
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
            found.append(Parameter(name, control, int(value), helps.get(control, ""), *_LIMITS.get(name, (0, LARGEST))))
    return tuple(found)


ON_TWO_RANKS = {
    "bcast": (
        ("binary", "binomial", "chain", "knomial", "linear", "pipeline"),
        ("scatter_allgather", "scatter_allgather_ring"),
    ),
    "reduce": (("binary", "binomial", "chain", "linear", "pipeline"),),
    "scatter": (("binomial", "linear"),),
    "allreduce": (("rabenseifner", "ring", "segmented_ring"), ("linear", "nonoverlapping")),
}
"""By collective, algorithms that are one schedule on 2 ranks, where a tree or a chain is a single message.

Counted on 4.1.4 at 1 B to 1 MiB (`timpani run … --prove`). Algorithms that exchange messages are listed only where the
rounds of their schedules agree as well: counts show no order. Scatter's linear_nb sends what linear sends, but takes
another time for it on 2 ranks (demo study), so it is not listed.
"""
