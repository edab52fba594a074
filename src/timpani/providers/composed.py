"""Collectives composed of the library's, on communicators of nodes and their leaders: rows of operations.def.

Their communicators alone can be timed too, as the operation `setup`.
"""

from dataclasses import replace

from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameter, Restrictions
from timpani.study.cell import COMPOSED
from timpani.study.operations import COLLECTIVES, Composition
from timpani.version import __version__

_SETUP = "setup"
_YES = 1  # what the only parameter, a switch, is at most


def composed_catalogue() -> Catalogue:
    """All compositions; a default is not among them."""
    algorithms = {
        operation.name: tuple(_info(operation.name, each) for each in operation.compositions)
        for operation in COLLECTIVES.values()
        if operation.compositions
    }
    algorithms[_SETUP] = _setups(algorithms)
    return Catalogue(COMPOSED, __version__, algorithms)


def _info(collective: str, composition: Composition) -> AlgorithmInfo:
    return AlgorithmInfo(
        collective,
        composition.name,
        f"{COMPOSED}/{composition.name}",
        tuple(
            Parameter(each.name, "", each.default_value, each.meaning, each.minimum, _YES)
            for each in composition.parameters
        ),
        aliases=(composition.alias,),
        restrictions=Restrictions(
            commutative=_reduces(collective),
            min_nodes=composition.min_nodes,
            min_groups=composition.min_groups,
        ),
        source=composition.meaning,
    )


def _reduces(collective: str) -> bool:
    movement = COLLECTIVES[collective].movement
    return movement is not None and movement.result == "sum"


def _setups(algorithms: dict[str, tuple[AlgorithmInfo, ...]]) -> tuple[AlgorithmInfo, ...]:
    """The communicators of each shape alone; they are the same for every collective."""
    with_setup = {info.name: info for infos in algorithms.values() for info in infos if info.parameters}
    meaning = "its communicators, made and freed"
    return tuple(replace(info, collective=_SETUP, parameters=(), source=meaning) for info in with_setup.values())
