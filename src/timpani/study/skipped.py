"""What was asked for and can't be had."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Skipped:
    """Something that cannot be measured.

    subject   what, in words
    reason    why
    stand_in  the algorithm that is measured in its place; empty where nothing is
    """

    subject: str
    reason: str
    stand_in: str = ""

    def __str__(self) -> str:
        return f"{self.subject}: {self.reason}"

    @property
    def note(self) -> str:
        """The line of a dry run."""
        return f"{self.subject}: {self.stand_in} stands in for it" if self.stand_in else f"left out: {self}"
