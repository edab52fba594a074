"""Which algorithms share starts of the MPI program: all that are compared, where that changes none of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from timpani.libraries.catalogue import AlgorithmInfo
from timpani.libraries.library import AlgorithmSelection
from timpani.study.cell import Algorithm
from timpani.study.operations import OPERATIONS

_NOTHING_SET = AlgorithmSelection()


@dataclass(frozen=True)
class ChosenAlgorithm:
    """An algorithm to measure, what the catalogue has of it, and what makes the library run it."""

    collective: str
    algorithm: Algorithm
    info: AlgorithmInfo | None
    selection: AlgorithmSelection


def share_launches(chosen: Sequence[ChosenAlgorithm], shared: AlgorithmSelection | None) -> Sequence[ChosenAlgorithm]:
    """`chosen`, with the default and Timpani's algorithms, which need no setting, in the launches that switch.

    What is compared shares the state of the machine only inside a start. `shared` is the provider's `shared_start`:
    None where the default differs there; it then has separate launches, which Timpani's algorithms share.
    """
    switched = any(each.selection.at_creation or each.selection.at_call for each in chosen)
    if shared is None or not switched:
        return chosen
    return [replace(each, selection=shared) if _needs_nothing(each) else each for each in chosen]


def _needs_nothing(each: ChosenAlgorithm) -> bool:
    return each.selection == _NOTHING_SET and OPERATIONS[each.collective].kind == "collective"
