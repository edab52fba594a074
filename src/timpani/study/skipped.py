"""What was asked for and can't be had."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Skipped:
    """Something left out: `subject` says what, `reason` why, or what stands in for it; both in words."""

    subject: str
    reason: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.reason}"
