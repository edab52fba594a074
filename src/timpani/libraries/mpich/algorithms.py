"""MPICH: control variables name the algorithms in their descriptions, and are read at each call.

So they are written through MPI_T around the call alone, and all algorithms run in one launch (ran on 4.0.2 and 5.0.2).
In the environment they would also apply to the library's internal calls: MPI_Init fails if a forced algorithm can't
run it (5.0.2: allreduce by reduce_scatter_allgather). MPI_T takes numbers where the environment takes names; which
number a name has is asked of the library, by giving it the name and reading the variable.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest

from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameter, Parameters, canonical_names
from timpani.libraries.library import AlgorithmSelection
from timpani.libraries.mpich.settings import Variable, control_variables
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.operations import COLLECTIVES

# `auto` decides alone; `nb` starts the nonblocking collective and waits, whichever algorithm that takes; `ccl`
# delegates to a library for GPUs, and what lies in the host's memory to `auto` (allreduce_intra_ccl.c).
_NO_ALGORITHMS = ("auto", "nb", "ccl")

# smp calls the same collective again within each node and between the first ranks of the nodes. A forced variable also
# forces smp for these inner calls, and smp can't run them. All calls fail, or a rank waits forever (seen with 4.0.2 and
# 5.0.2). A selection tree can name smp, since it does not apply to inner calls.
_NOT_BY_VARIABLE = "smp"

IN_PLACE = "pairwise_sendrecv_replace"
"""It runs all-to-alls in place only, which Timpani measures on request only. 3.4.3 sends wrong data by it in others."""

_FALLBACK_IS_ERROR = ("MPIR_CVAR_COLLECTIVE_FALLBACK", 0)  # the first of its choices `error print silent`
REFUSING_CONTROLS = frozenset({_FALLBACK_IS_ERROR[0]})

_DEVICE_COLLECTIVES = "MPIR_CVAR_DEVICE_COLLECTIVES"
_NO_DEVICE = (_DEVICE_COLLECTIVES, 1)  # the second of `all none percoll`

# Our name of a parameter, by the end of the library's variable MPIR_CVAR_<OP>_<PART>_…; <PART> says whose it is.
_PARAMETERS = {"KVAL": "radix", "CHUNK_SIZE": "segment_bytes"}


def catalogue(mpi: Mpi) -> Catalogue:
    """What can be forced. The library is asked through MPI_T, by a program built for it.

    Nothing where the variables are missing that keep a call from another algorithm than the forced one, as a vendor's
    library may lack them.
    """
    variables = control_variables(mpi, {})
    forcible = {_FALLBACK_IS_ERROR[0], _DEVICE_COLLECTIVES} <= {each.name for each in variables}
    algorithms = read_algorithms(variables if forcible else ())
    forced = {
        collective: tuple(info for info in infos if info.name not in (_NOT_BY_VARIABLE, IN_PLACE))
        for collective, infos in algorithms.items()
    }
    return Catalogue(mpi.kind, mpi.version, _numbered(mpi, forced), name=mpi.name)


def selection(mpi: Mpi, info: AlgorithmInfo | None, algorithm: Algorithm) -> AlgorithmSelection:
    """One launch is enough for all; nothing is left to the devices' own collectives or to a silent fallback."""
    if info is None:
        return AlgorithmSelection()
    asked = dict(algorithm.parameters)
    return AlgorithmSelection(
        at_call=(
            (choosing_variable(info), int(info.value)),
            _FALLBACK_IS_ERROR,
            _NO_DEVICE,
            *((each.control, asked[each.name]) for each in info.parameters if each.name in asked),
        ),
    )


def setting(mpi: Mpi, info: AlgorithmInfo, algorithm: Algorithm) -> Parameters:
    """Variables of the environment. They name the algorithm as the library does; where it can't serve a call the
    library takes another, as is its own habit."""
    asked = dict(algorithm.parameters)
    variables = {_DEVICE_COLLECTIVES: "none", choosing_variable(info): info.library_name}
    variables |= {each.control: str(asked[each.name]) for each in info.parameters if each.name in asked}
    return tuple(variables.items())


def _numbered(mpi: Mpi, algorithms: Mapping[str, tuple[AlgorithmInfo, ...]]) -> dict[str, tuple[AlgorithmInfo, ...]]:
    """The algorithms with their numbers in place of names: the n-th of every collective is asked for at once."""
    numbered: dict[str, list[AlgorithmInfo]] = {collective: [] for collective in algorithms}
    for turn in zip_longest(*algorithms.values()):
        asked = {choosing_variable(info): info for info in turn if info is not None}
        values = {
            each.name: each.value for each in control_variables(mpi, {name: info.value for name, info in asked.items()})
        }
        for variable, info in asked.items():
            numbered[info.collective].append(replace(info, value=str(values[variable])))
    return {collective: tuple(each) for collective, each in numbered.items()}


def read_algorithms(variables: Iterable[Variable]) -> dict[str, tuple[AlgorithmInfo, ...]]:
    """The algorithms of each collective that we measure."""
    by_name = {variable.name: variable for variable in variables}
    algorithms = {}
    for collective in COLLECTIVES:
        variable = by_name.get(_algorithm_variable(collective))
        if variable is None:
            continue
        described = {name: text for name, text in read_description(variable.description) if name not in _NO_ALGORITHMS}
        algorithms[collective] = tuple(
            AlgorithmInfo(
                collective, canonical, name, tuple(_parameters(collective, name, described, by_name)), aliases
            )
            for name, (canonical, aliases) in canonical_names(described).items()
        )
    return algorithms


def read_description(description: str) -> list[tuple[str, str]]:
    """Names and explanations of a variable's description.

    MPICH 5 writes a line for each. MPICH 4.0 prints the same without its line ends, so that an explanation runs into
    the next name: there the names' column, of one width for all, shows where a name begins.
    """
    if "\n" in description:
        return re.findall(r"^(\w+) +- (.*)$", description, re.MULTILINE)
    column = description[description.find("JSON_FILE)") + len("JSON_FILE)") :]
    width = column.find("- ")
    starts = [dash.start() - width for dash in re.finditer(r"(?<= )- Force", column)]
    entries = [column[start:end] for start, end in zip(starts, [*starts[1:], len(column)], strict=True)]
    return [(entry[:width].strip(), entry[width + len("- ") :]) for entry in entries]


def choosing_variable(info: AlgorithmInfo) -> str:
    """The control variable that chooses the algorithm."""
    return _algorithm_variable(info.collective)


def _algorithm_variable(collective: str) -> str:
    return f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM"


def _parameters(
    collective: str, algorithm: str, described: dict[str, str], variables: dict[str, Variable]
) -> Iterator[Parameter]:
    """The variables MPIR_CVAR_<OP>_<PART>_KVAL and …_CHUNK_SIZE that are this algorithm's.

    The first word of the part is met in the algorithm's name, the others there or in its explanation:
    TREE_PIPELINE is that of `pipelined_tree`, and that of a `tree` explained as 'pipelined tree'.
    """
    if f"k_{algorithm}" in described:  # `brucks` is the one of radix 2, `k_brucks` that of radix k
        return
    pattern = re.compile(rf"MPIR_CVAR_{collective.upper()}_(?P<part>\w+)_(?P<end>{'|'.join(_PARAMETERS)})")
    said = f"{algorithm} {described[algorithm]}".lower()
    for variable in variables.values():
        match = pattern.fullmatch(variable.name)
        if match is None or variable.value is None:
            continue
        first, *others = match["part"].lower().split("_")
        if first in algorithm and all(word in said for word in others):
            yield Parameter(_PARAMETERS[match["end"]], variable.name, variable.value, variable.description)
