"""Time that several campaigns share, one after another."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class TimeBudget:
    """`seconds` counted by `clock` from when this is made; None: unlimited."""

    seconds: float | None = None
    clock: Callable[[], float] = time.monotonic
    _started: float = field(init=False)

    def __post_init__(self) -> None:
        self._started = self.clock()

    def share(self, part: float) -> float | None:
        """Seconds: `part` of the time that is left, 0 at least; None: unlimited."""
        if self.seconds is None:
            return None
        return part * max(0.0, self._started + self.seconds - self.clock())
