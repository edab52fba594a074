"""What a race reached, as text."""

from collections.abc import Iterator

from timpani.stats.regret import ALPHA, ANALYSES
from timpani.study.counted import counted, per_cent
from timpani.tuning.race.between import OTHERWISE
from timpani.tuning.race.outcome import RaceVerdict


def race_lines(race: RaceVerdict | None) -> list[str]:
    """What a race reached, where it didn't and why, and what it didn't race; nothing where there was none."""
    if race is None:
        return []
    if not race.points:
        return [f"Race: nothing was raced, of {counted(race.asked, 'point')} asked for.", *_not_raced(race)]
    points = counted(race.points, "point")
    of = points if race.points == race.asked else f"{points} that {_were(race.points)} raced, of {race.asked} asked for"
    line = (
        f"Race: what is chosen takes at most {100 * race.accepted:.2g} % longer than the best "
        f"({per_cent(1 - ALPHA)} bound) at {race.reached} of {of}"
    )
    if race.reached < race.points and race.largest is not None:
        line += f"; the largest bound is {_bound(race.largest)}"
    if race.unbounded:
        line += f"; {race.unbounded} without a bound yet"
    return [
        f"{line}.",
        *_not_reached(race),
        *_not_raced(race),
        f"Each of its bounds holds with {per_cent(1 - ALPHA)} against the truly best algorithm of a point, at all "
        f"looks together, and both of a gain with {per_cent(1 - 2 * ALPHA)}; gains are of the launches that chose, and "
        "corrected for that in part, by cross-validation.",
    ]


def _not_reached(race: RaceVerdict) -> Iterator[str]:
    """What further launches promise where the bound is wider than was asked for, or what kept it wide."""
    if race.more_launches:
        yield (
            f"More launches (--launches, --budget), up to {ANALYSES[-1]} at a point, would narrow the bound at "
            f"{counted(race.more_launches, 'point')}."
        )
    causes = {
        f"where deciding would take over {ANALYSES[-1]} launches, the last interim analysis": race.over_last_look,
        f"after {ANALYSES[-1]} launches, the last interim analysis": race.last_look,
        "where deciding would take more time than it is worth, unless there is a --budget": race.not_worth,
    }
    told = [f"{counted(count, 'point')} {cause}" for cause, count in causes.items() if count]
    if told:
        yield (
            f"Still undecided: {'; '.join(told)} (`race_ended` in `timpani show --format csv` and "
            "`timpani verdict --format json`)."
        )
    if race.partly_failed:
        yield (
            f"Some algorithms failed at {counted(race.partly_failed, 'point')}: there the best is the best of those "
            "that ran."
        )


def _not_raced(race: RaceVerdict) -> Iterator[str]:
    """Where a race says nothing of a best algorithm."""
    others = {
        "a few algorithms were looked at in few launches": race.looked_at,
        "everything failed": race.failed,
        "only one algorithm has times, so that none is best": race.without_rival,
        "the race never came to measure anything": race.unreached,
    }
    told = [f"at {counted(count, 'point')} {what}" for what, count in others.items() if count]
    if told:
        text = "; ".join(told)
        yield f"{text[0].upper()}{text[1:]}."
    if race.otherwise:
        one = race.otherwise == 1
        yield (
            f"At {race.otherwise} of those looked at, what serves the neighbouring points seems to take over "
            f"{per_cent(OTHERWISE)} longer than another competitor, and no launch was left to race "
            f"{'it' if one else 'them'}: more launches (--launches) do."
        )


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _bound(share: float) -> str:
    """`34 %`, or of large ones `270 times the best`; two digits count."""
    if share < 10:
        return f"{float(f'{100 * share:.2g}'):g} %"
    return f"{float(f'{1 + share:.2g}'):,.0f} times the best"
