"""The work of a campaign under way: how much is done, and the time that the rest takes, in words."""

from collections.abc import Callable, Collection

from timpani.campaign.plan.estimate import TimeLeft
from timpani.campaign.plan.plan import CampaignPlan
from timpani.study.cell import Cell
from timpani.study.words import show_range, show_seconds


class Work:
    """What a campaign measures: `total` results, of which `before` had been measured when it began, and `count` have
    been now. `clock` gives seconds.

    Of a race `total` is the most that it may measure.
    """

    def __init__(self, plan: CampaignPlan, done: Collection[tuple[Cell, int]], clock: Callable[[], float]) -> None:
        self._plan = plan
        self._clock = clock
        self._budget = plan.study.budget
        self._seconds = plan.expected_seconds
        launches = plan.study.launches
        measured = [cell for cell, launch in done if cell in self._seconds and launch <= launches]
        self.total = len(self._seconds) * launches
        self.before = self.count = len(measured)
        self.racing = plan.study.regret is not None
        expected = launches * sum(self._seconds.values()) - sum(self._seconds[cell] for cell in measured)
        self._left = TimeLeft(expected)
        self._began = clock()
        self._has_started = False

    @property
    def cells(self) -> Collection[Cell]:
        """The cells that each launch measures."""
        return self._seconds

    @property
    def elapsed(self) -> float:
        """Seconds since the first start."""
        return self._clock() - self._began

    def started(self) -> None:
        """A start begins. The time before the first one does not count: programs are built."""
        if not self._has_started:
            self._began, self._has_started = self._clock(), True

    def measured(self, cell: Cell) -> None:
        """One more result."""
        self.count += 1
        self._left.add(self._seconds.get(cell, 0.0), self.elapsed)

    def time_for_all(self) -> str:
        """About how long all of it takes, before any of it is measured; as `time_left`."""
        if self.count >= self.total:
            return ""
        if self.racing:
            return f", at most about {show_seconds(self._plan.most_seconds)} for all"
        left = self._left.left(0.0)
        if self._budget is not None and left.high > self._budget:
            return f", within the budget of {show_seconds(self._budget)}"
        return f", {show_range(left.low, left.high)} for all"

    def time_left(self) -> str:
        """The time that the rest takes, with a comma before it; empty where nothing is left."""
        left = self._left.left(self.elapsed)
        if self.count >= self.total:
            return ""
        if self._budget is not None:
            of_budget = self._budget - self.elapsed
            if of_budget <= 0:
                return ", the budget is spent: no further start begins"
            if left.high > of_budget:
                return f", {show_seconds(of_budget)} of the budget left"
        return (
            f", at most {show_seconds(left.high)} left" if self.racing else f", {show_range(left.low, left.high)} left"
        )
