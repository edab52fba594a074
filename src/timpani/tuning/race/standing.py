"""What a race knows of a point and of two of its algorithms."""

from collections.abc import Mapping
from dataclasses import dataclass

from timpani.study.cell import Algorithm


@dataclass(frozen=True)
class RatioBounds:
    """The ratio of two times over `launches`.

    The estimate is a geometric mean. If the same launches chose one of the two algorithms, it is corrected for the
    winner's curse (`stats/selection_bias.py`). Without a bound, `low` is 0 and `high` infinite.

    Each one-sided bound has 95 % confidence, at all interim analyses and simultaneously for all comparisons of one
    point with one fixed algorithm, such as the truly best one or the default. Both bounds together have 90 %.
    """

    estimate: float
    low: float
    high: float
    launches: int


@dataclass(frozen=True)
class DropReason:
    """Why the race dropped an algorithm.

    launch     the launch after which it was dropped
    factor     lower bound of its time over the best one's. 1 if it was `abandoned`, or if it is only bounded to be
               better by at most the accepted regret
    abandoned  whether it failed in too many launches (`tuning/race/abandoned_cells.py`)
    """

    launch: int
    factor: float = 1.0
    abandoned: bool = False


@dataclass(frozen=True)
class Standing:
    """A point after the launches so far.

    launches    number of launches that measured it
    choice      the algorithm that the results recommend; None without a measurement
    regret      95 % upper bound of the choice's excess time over the best algorithm, as a share; infinite if unbounded
    done        whether the point needs no more launches. Either all algorithms but one were abandoned, or `regret` is
                at most the accepted regret and one of two conditions holds: the choice is significantly faster than the
                default (`race/results.py`), or the default's bound is hardly larger
    acceptable  the choice, and algorithms whose bound or estimate is at most the accepted regret
    remaining   algorithms that the next launch would measure
    dropped     the other algorithms
    excess      estimated excess time of each measured algorithm over the fastest, as a share

    An abandoned algorithm is no choice, bounds no other algorithm, and has no excess.
    """

    launches: int
    choice: Algorithm | None
    regret: float
    done: bool
    acceptable: frozenset[Algorithm]
    remaining: frozenset[Algorithm]
    dropped: Mapping[Algorithm, DropReason]
    excess: Mapping[Algorithm, float]


@dataclass(frozen=True)
class PairedDifference:
    """An algorithm compared with the choice of its point, by the logarithm of their times' ratio.

    launches   number of launches that measured both
    slower     mean over these launches; positive if the choice is faster
    margin     half-width of the bound at which the comparison is decided
    variance   variance over launches, moderated by the prior
    prior_dof  degrees of freedom of `variance` in addition to those of `launches`
    """

    launches: int
    slower: float
    margin: float
    variance: float
    prior_dof: float
