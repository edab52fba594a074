"""A time budget that consecutive campaigns share."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class TimeBudget:
    """`seconds` that `clock` counts from the creation of this object; None: unlimited."""

    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.clock()

    @property
    def spent(self) -> float:
        """The seconds since the creation of this object."""
        return self.clock() - self._started

    def share(self, part: float) -> float | None:
        """The fraction `part` of the remaining time in seconds, at least 0; None: unlimited."""
        if self.seconds is None:
            return None
        return part * max(0.0, self.seconds - self.spent)
