"""Who is told how a campaign goes on."""

from typing import Protocol

from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.plan.plan import Group


class Observer(Protocol):
    """What a campaign calls as it goes on."""

    def started(self, launch: int, group: Group, cells: int) -> None:
        """A start of the MPI program for so many cells."""
        ...

    def measured(self, result: LaunchResult) -> None:
        """A result, after it was recorded."""
        ...

    def note(self, text: str) -> None:
        """Something worth knowing that is no result."""
        ...
