"""The verdict on a campaign in words: the answer, what to do, then warnings."""

from collections.abc import Iterator, Mapping, Sequence

from timpani.report.verdict.difference_words import EXACT, faster
from timpani.stats.compare import ALPHA
from timpani.stats.regret import ALPHA as RACE_ALPHA
from timpani.study.cell import OWN, VARIANT_SIGN
from timpani.study.operations import is_sized
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent, show_seconds
from timpani.tuning.decide.decide import EQUIVALENCE_MARGIN
from timpani.tuning.decide.verdict import DECIDED_SHARE, DecisionForecast, DefaultRegret, Verdict

MAX_BRIEF = 3
"""Points, gains or warnings that a brief answer names."""

_FEW_UNDECIDED = 5  # with fewer undecided points, only the launches for all of them are shown
_MANY_LAUNCHES = 1000  # beyond which a number of launches means: not by more launches

NOTHING_TO_SET = (
    "A simulation has no library to set: measure these points on the machine before you switch anything on."
)

NOT_RECORDED = "How to switch an algorithm on is not recorded: the campaign was imported."

OVERESTIMATED = "so probably somewhat overestimated"
"""The largest gain of many points, which the same launches both chose and measured (winner's curse)."""

_ABOUT = (
    "A point is a collective at one size and rank count. The default is fine where it is shown to be at most "
    f"{EQUIVALENCE_MARGIN} slower than the fastest algorithm. Algorithms joined by = send the same messages there, in "
    "the same order. A cell is one algorithm at one point."
)


def headline(verdict: Verdict, limits: Mapping[int, str] | None = None) -> list[str]:
    """The answer, the largest gains, and what would decide the rest: a sentence or a command each.

    limits  names of the library's eager limits by their bytes, where it was asked for them
    """
    if not verdict.has_collectives:
        return ["Verdict: none asked for; messages and transposes have no default to decide on."]
    if not verdict.decided:
        return [f"{_verdict(verdict)}: none; there is nothing that the default could be compared with."]
    if not verdict.is_conclusive:
        advice = f": {verdict.launches_advice}" if verdict.launches_advice else ""
        return [
            f"{_verdict(verdict)}: none yet; a comparison takes {counted(verdict.launches_needed, 'launch')}{advice}."
        ]
    if verdict.by_value == verdict.decided:
        lines = [
            "Verdict by value alone (averages of a single run, no interval): your library's default takes at most "
            f"{EQUIVALENCE_MARGIN} longer than the fastest at {verdict.within_by_value} of "
            f"{counted(verdict.decided, 'point')}."
        ]
        if verdict.largest_regret:
            lines.append(f"Largest gain by value ({_of_many(verdict)}): {_gain(verdict.largest_regret)}")
        return lines
    lines = [_answer(verdict)]
    if verdict.largest_regret:
        lines += _gains(verdict, limits or {})
    elif not verdict.undecided:
        lines.append(f"No {verdict.competitors} is {faster(verdict.simulated)}.")
    if verdict.forecast:
        lines += _what_would_decide(verdict.forecast, verdict)
    return lines


def details(verdict: Verdict) -> list[str]:
    """What the answer rests on: each operation, what the words mean, how often chance errs."""
    return [*(f"  {sentence}" for sentence in verdict.sentences), *definitions(verdict), *how_sure(verdict)]


def definitions(verdict: Verdict) -> list[str]:
    """What the words of the answer mean; empty where it decides nothing."""
    return [_ABOUT] if _decides(verdict) else []


def how_sure(verdict: Verdict) -> list[str]:
    """How often chance errs; empty where the answer decides nothing."""
    return [EXACT if verdict.simulated else false_alarms(verdict.decided)] if _decides(verdict) else []


def _decides(verdict: Verdict) -> bool:
    return verdict.has_collectives and verdict.is_conclusive and verdict.by_value < verdict.decided


def false_alarms(points: int) -> str:
    """How many points of a campaign may be called slower by chance alone."""
    return (
        f"False alarms: on average the default is wrongly called slower at no more than {100 * ALPHA:.0f} % of the "
        f"points, here {ALPHA * points:.2g} of {points}; simulated campaigns had far fewer (docs/methodology.md)."
    )


def brief_warnings(warnings: Sequence[str]) -> list[str]:
    """At most three warnings, without what follows their first semicolon."""
    return [f"Warning: {warning.split('; ')[0]}" for warning in warnings[:MAX_BRIEF]]


def more_warnings(warnings: Sequence[str]) -> str:
    """How many `brief_warnings` leaves out, in words; empty where none."""
    left = len(warnings) - MAX_BRIEF
    return counted(left, "more warning") if left > 0 else ""


def _answer(verdict: Verdict) -> str:
    default = "the simulated default" if verdict.simulated else "your library's default"
    parts = [f"{default} is fine at {verdict.within_5_percent} of {counted(verdict.decided, 'point')}"]
    if verdict.slower:
        up_to = f", up to {verdict.largest_regret.gain:.2f} times" if verdict.largest_regret else ""
        parts.append(f"at {verdict.slower} another {verdict.winners} is faster{up_to}")
    if verdict.undecided:
        parts.append(f"{verdict.undecided} {'is' if verdict.undecided == 1 else 'are'} undecided")
    return f"{_verdict(verdict)}: {'; '.join(parts)}."


def _verdict(verdict: Verdict) -> str:
    """`Verdict`, and how late ranks enter unless they enter together."""
    return f"Verdict where ranks enter {' or '.join(verdict.arrivals)}" if verdict.arrivals else "Verdict"


def _gains(verdict: Verdict, limits: Mapping[int, str]) -> Iterator[str]:
    """The largest gains, one an operation, each with what switches its best algorithm on."""
    assert verdict.largest_regret is not None
    shown = verdict.regrets[:MAX_BRIEF]
    chosen = f"{'the first is ' if len(shown) > 1 else ''}{_of_many(verdict)}"
    yield f"Largest gains ({chosen}):" if len(shown) > 1 else f"Largest gain ({chosen}):"
    for loss in shown:
        yield f"  {_gain(loss)}"
        if limit := limits.get(loss.message_bytes):
            size = show_size(loss.message_bytes)
            yield f"    {size} is the library's {limit}: a whole message waits for its receiver, smaller pieces do not"
        if loss.set_by and loss.best_label.startswith(OWN):
            yield f"    by rules (`timpani rules`): {loss.set_by} …"
            continue
        if loss.set_by:
            where = "in the whole program" if VARIANT_SIGN in loss.best_label else f"in all calls of {loss.collective}"
            yield f"    {where}: {loss.set_by} …"
        yield from (f"    {part}" for part in loss.parts)
        if loss.at_other_points and (loss.set_by or verdict.simulated):
            yield f"    but {loss.at_other_points}"
    costly = [loss for loss in shown if loss.set_by and loss.at_other_points]
    if any(VARIANT_SIGN not in loss.best_label for loss in costly):
        which = "each algorithm" if any(VARIANT_SIGN in loss.best_label for loss in costly) else "each"
        yield f"  `timpani tune` applies {which} only at the sizes at which it is faster."
    if verdict.simulated:
        yield NOTHING_TO_SET
    if not verdict.settings_recorded:
        yield NOT_RECORDED


def _of_many(verdict: Verdict) -> str:
    """What the largest gain is a maximum over."""
    if verdict.largest_regret and verdict.largest_regret.raced:
        return f"the largest of {counted(verdict.decided, 'point')}, partly corrected for that choice"
    if verdict.decided == 1:
        return "of the only point"
    if verdict.simulated:
        return f"the largest of {verdict.decided} points"
    anew = "; `timpani confirm` measures it again" if verdict.settings_recorded else ""
    return f"the largest of {verdict.decided} points, {OVERESTIMATED}{anew}"


def _gain(loss: DefaultRegret) -> str:
    size = f" at {show_size(loss.message_bytes)}" if is_sized(loss.collective) else ""
    known = loss.gain_low is not None and loss.gain_high is not None
    ends = f"bounds of {per_cent(1 - RACE_ALPHA)} each:" if loss.raced else f"{per_cent(1 - ALPHA)} interval"
    interval = f" ({ends} {loss.gain_low:.2f} to {loss.gain_high:.2f})" if known else ""
    where = f"{loss.collective}{size} on {counted(loss.ranks, 'rank')}"
    return f"{where}: {loss.schedule or loss.best_label}, {loss.gain:.2f} times as fast{interval}"


def _what_would_decide(forecast: DecisionForecast, verdict: Verdict) -> Iterator[str]:
    """How many launches would probably decide what is undecided, of few points all of them; and the command."""

    def cost(launches: int, seconds: float | None, noun: str = "") -> str:
        if launches >= _MANY_LAUNCHES:
            return f"more than {_MANY_LAUNCHES}{noun}"
        return f"{launches}{noun}" + (f" ({show_seconds(seconds)} more)" if seconds is not None else "")

    noun = " launches in total"
    command = [f"  {verdict.decide_command}"] if verdict.decide_command else []
    some = "" if forecast.of == verdict.undecided else f"{forecast.of} of "
    if forecast.of < _FEW_UNDECIDED:
        points = f"{some}the undecided {'point' if verdict.undecided == 1 else 'points'}"
        decided = cost(forecast.most, forecast.most_seconds, noun)
        yield f"{points[0].upper()}{points[1:]} would probably be decided after {decided}."
        yield from command
        return
    decided = cost(forecast.half, forecast.half_seconds, noun)
    half = f"Half of {some}the undecided points would probably be decided after {decided}"
    if forecast.half >= _MANY_LAUNCHES:
        yield f"{half}."
        return
    yield f"{half}, {per_cent(DECIDED_SHARE)} after {cost(forecast.most, forecast.most_seconds)}."
    yield from command


def affordable_launches(forecast: DecisionForecast) -> tuple[int, float | None] | None:
    """The total launches that the command asks for, and the seconds of the missing ones; None if no number helps."""
    for launches, seconds in ((forecast.most, forecast.most_seconds), (forecast.half, forecast.half_seconds)):
        if launches < _MANY_LAUNCHES:
            return launches, seconds
    return None
