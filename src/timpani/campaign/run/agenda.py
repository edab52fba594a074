"""The cells of each launch: all cells, or those that follow from the results of earlier launches."""

from collections.abc import Callable, Iterable

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.plan.plan import CampaignPlan
from timpani.slices import Hook
from timpani.study.cell import Cell
from timpani.study.point_weights import Point


class Agenda:
    """The cells of each launch, decided one launch at a time: here all cells, in all launches of the study."""

    def __init__(self, cells: Iterable[Cell], launches: int) -> None:
        self._cells = frozenset(cells)
        self._launches = launches

    def wanted(self, launch: int) -> frozenset[Cell]:
        """The cells of launch number `launch`, from the results of earlier launches; empty: the campaign is complete.

        Results of `launch` itself and of later launches make no difference.
        """
        return self._cells if launch <= self._launches else frozenset()

    def sampled_points(self, launch: int) -> frozenset[Point]:
        """The points that launch number `launch` of a race only samples."""
        return frozenset()

    def last_known_launch(self) -> int:
        """The last launch whose cells are known now."""
        return self._launches

    def take(self, result: LaunchResult) -> None:
        """Add a result, on which the cells of later launches may depend."""


AGENDAS: Hook[Callable[[CampaignPlan], Agenda | None]] = Hook("AGENDAS")
"""Other agendas, of the plans that want one."""


def agenda_of(plan: CampaignPlan) -> Agenda:
    """The agenda of the study of `plan`."""
    found = (agenda(plan) for agenda in AGENDAS.added())
    return next(filter(None, found), None) or Agenda((each.cell for each in plan.cells), plan.study.launches)
