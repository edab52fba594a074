"""The results of a race as text."""

from collections.abc import Iterator

from timpani.judge.jobs import JobScope
from timpani.judge.raced import MIN_EXCESS, DroppedVariant, ProgramLoss, RaceVerdict
from timpani.stats.regret import ALPHA, ANALYSES
from timpani.study.words import counted, per_cent


def race_lines(race: RaceVerdict | None, scope: JobScope | None = None) -> list[str]:
    """The points where a race bounded the regret, the others with the reason, and the points that it did not race.

    Empty without a race. scope: the jobs that measured it; None if unknown
    """
    if race is None:
        return []
    several = scope is not None and scope.jobs > 1
    title = "Race"
    if scope:
        title += f" over {counted(scope.jobs, scope.noun)}" if several else f" in this {scope.noun}"
    if not race.points:
        return [f"{title}: nothing was raced at {counted(race.requested, 'requested point')}.", *_not_raced(race)]
    points = counted(race.points, "point")
    of = (
        points
        if race.points == race.requested
        else f"{points} that {'was' if race.points == 1 else 'were'} raced, of {race.requested} requested"
    )
    smallest, largest = (f"{100 * each:.2g}" for each in (race.smallest_accepted, race.accepted))
    most = f"{smallest} %" if smallest == largest else f"{smallest} to {largest} % (by its weight)"
    line = (
        f"{title}: the choice takes at most {most} longer than the best ({per_cent(1 - ALPHA)} bound) at "
        f"{race.reached} of {of}"
    )
    if race.reached < race.points and race.largest is not None:
        line += f"; the largest bound is {_bound(race.largest)}"
    if race.unbounded:
        line += f"; {race.unbounded} without a bound yet"
    return [
        f"{line}.",
        *dropped_variant_lines(race),
        *_of_program(race.program),
        *_not_reached(race, f"More {scope.noun}s" if scope and several else _MORE_LAUNCHES),
        *_not_raced(race),
        *(
            [f"Where several {scope.noun}s measured the choice, the {scope.noun} is the replicate of its bound."]
            if scope and several
            else []
        ),
        f"Each one-sided bound has {per_cent(1 - ALPHA)} confidence versus the truly best algorithm of a point, at all "
        f"interim analyses together; both bounds of a gain have {per_cent(1 - 2 * ALPHA)}. The launches that chose an "
        "algorithm also estimate its gain. Cross-validation corrects part of this bias (the winner's curse).",
    ]


def dropped_variant_lines(race: RaceVerdict | None) -> list[str]:
    """A line with all variants that the race dropped, in the order of time, and why; none without such a variant."""
    found = (
        [f"{each.name} after launch {each.launch} ({_drop_reason(each)})" for each in race.dropped_variants]
        if race
        else []
    )
    return [f"Dropped before the race ended: {'; '.join(found)}."] if found else []


def _drop_reason(dropped: DroppedVariant) -> str:
    others = dropped.points - dropped.slower - dropped.abandoned
    reasons = {
        "slower": dropped.slower,
        "failed": dropped.abandoned,
        "hardly better than the choice, if at all,": others,
    }
    named = [f"{reason} at {count}" for reason, count in reasons.items() if count]
    return f"{', '.join(named)} of {counted(dropped.points, 'point')}"


def _of_program(lost: ProgramLoss | None) -> Iterator[str]:
    if lost:
        yield (
            f"All choices together lose at most {per_cent(lost.bound)} of the program's time in MPI "
            f"(sum of the points' bounds; {per_cent(lost.allowed)} is accepted)."
        )


_MORE_LAUNCHES = f"More launches (--launches, --budget), up to {ANALYSES[-1]} at a point,"


def _not_reached(race: RaceVerdict, more: str) -> Iterator[str]:
    """The points with a bound wider than the accepted regret: whether `more` of something helps, or the reason."""
    if race.more_launches:
        yield f"{more} would narrow the bound at {counted(race.more_launches, 'point')}."
    causes = {
        f"that would need over {ANALYSES[-1]} launches, the last interim analysis": race.beyond_last_analysis,
        f"after {ANALYSES[-1]} launches, the last interim analysis": race.at_last_analysis,
        "that would take more time than they are worth; with a --budget they continue": race.too_expensive,
        "whose calls take too little of the program's time": race.little_time,
    }
    undecided = [f"{counted(count, 'point')} {cause}" for cause, count in causes.items() if count]
    if undecided:
        yield (
            f"Still undecided: {'; '.join(undecided)} (`race_ended` in `timpani show --format csv` and "
            "`timpani verdict --format json`)."
        )
    if race.partly_failed:
        yield (
            f"Some algorithms failed at {counted(race.partly_failed, 'point')}: the best there is the best of the "
            "others."
        )


def _not_raced(race: RaceVerdict) -> Iterator[str]:
    """The points at which a race names no best algorithm, with the reason."""
    others = {
        "a few algorithms were sampled in few launches": race.sampled,
        "everything failed": race.failed,
        "only one algorithm has times, so that there is no best": race.without_competitor,
        "the race measured nothing": race.unreached,
    }
    others_text = [f"at {counted(count, 'point')} {what}" for what, count in others.items() if count]
    if others_text:
        text = "; ".join(others_text)
        yield f"{text[0].upper()}{text[1:]}."
    if race.unexpected:
        one = race.unexpected == 1
        yield (
            f"At {race.unexpected} of these sampled points the neighbors' choice seems to take over "
            f"{per_cent(MIN_EXCESS)} longer than another algorithm. No launch was left to race "
            f"{'it' if one else 'them'}: measure with more --launches."
        )


def _bound(share: float) -> str:
    """`34 %`, or `270 times the best` for large bounds, with two significant digits."""
    if share < 10:
        return f"{float(f'{100 * share:.2g}'):g} %"
    return f"{float(f'{1 + share:.2g}'):,.0f} times the best"
