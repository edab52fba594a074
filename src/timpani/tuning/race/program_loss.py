"""What the choices of a race for a program may lose of its time, and which points must be measured again."""

from collections.abc import Collection
from dataclasses import dataclass

from timpani.study.point_weights import Point
from timpani.tuning.race.race import Race


def points_to_reduce(race: Race, points: Collection[Point]) -> set[Point]:
    """The undecided points that a further launch measures: the fewest, so that all others lose at most what is allowed.

    The points that may lose most come first. In a race without a program all undecided `points`. A point without a
    bound may lose all of its time.
    """
    undecided = [point for point in points if race.standing(point).remaining]
    allowed = race.allowed_loss
    if allowed is None:
        return set(undecided)
    lost = race.unreached_loss + sum(race.lost(point) for point in points if not race.standing(point).remaining)
    cheapest_first = sorted(undecided, key=lambda point: (race.lost(point), point))
    for number, point in enumerate(cheapest_first):
        lost += race.lost(point)
        if lost > allowed:
            return set(cheapest_first[number:])
    return set()


@dataclass(frozen=True)
class ProgramLoss:
    """What all choices of a race together may lose, as shares of the program's time in MPI: `bound`, and `allowed`."""

    bound: float
    allowed: float


def program_loss(race: Race) -> ProgramLoss | None:
    """What the choices may lose of the program's time; None without a program. The bound adds the points' bounds."""
    allowed = race.allowed_loss
    return None if allowed is None else ProgramLoss(race.unreached_loss + sum(map(race.lost, race.points())), allowed)
