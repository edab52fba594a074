"""The verdict on a campaign: the answer, what to do, then warnings."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from math import sqrt
from pathlib import Path

from timpani.judge.jobs import JOBS_OF_A_MACHINE, History, JobScope
from timpani.judge.verdict import DecisionForecast, DefaultRegret, Verdict
from timpani.machine.nodes.model import fold
from timpani.report.document.blocks import Block, Document, NextCommand, Sentence, Table, Value, rows
from timpani.stats.compare import ALPHA, STANDARD, Margins
from timpani.stats.regret import ALPHA as RACE_ALPHA
from timpani.study.cell import OWN, VARIANT_SIGN
from timpani.study.operations import is_sized
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent, show_range

_MAX_NODES_TEXT = 40
"""Characters of the nodes' names; of more nodes only the number is said."""


def holds_for(scope: JobScope) -> str:
    """`in this job (n[1-2], 28 November 2026)`, `over 3 jobs (…)`, or of many `on this machine (6 jobs, …)`."""
    first, last = (f"{day.day} {day:%B %Y}" for day in (scope.first, scope.last))
    days = last if first == last else f"{first.removesuffix(f' {scope.last:%Y}')} to {last}"
    nodes = fold(scope.nodes)
    nodes = nodes if len(nodes) <= _MAX_NODES_TEXT else counted(len(scope.nodes), "node")
    about = ", ".join(filter(None, (nodes, days)))
    if scope.jobs == 1:
        return f"in this {scope.noun} ({about})"
    jobs = counted(scope.jobs, scope.noun)
    fewest, most = scope.at_a_point
    if fewest == 1:
        return f"in {jobs}, {'one for each point' if most == 1 else 'only one for some points'} ({about})"
    if fewest < JOBS_OF_A_MACHINE:
        return f"over {jobs} ({about})"
    return f"on this machine ({jobs}, {about})"


ELSEWHERE = (0.01, 0.09)
"""By how much another job changed the ratio of two algorithms on four supercomputers, as standard deviation of its
logarithm: 1 to 3 % on Fugaku, 2 to 7 % on Leonardo, 9 % on LUMI (public results of PICO, 2025)."""


def another_job(scope: JobScope) -> Sentence:
    """How much another job may change ratios: what this machine's history or several jobs show, or else elsewhere."""
    moved = None if scope.history is None else scope.history.components.algorithm_in_job
    if moved is not None and scope.history:
        known = f"{scope.history.jobs} {scope.noun}s until {scope.history.until}"
        text = f"Another {scope.noun} changes ratios by about {per_cent(sqrt(2) * moved)} here ({known})."
    elif scope.at_a_point[0] > 1:
        text = f"The intervals include how much ratios change from {scope.noun} to {scope.noun}."
    else:
        low, high = (100 * each for each in ELSEWHERE)
        moved_elsewhere = f"{low:.0f} to {high:.0f} % from {scope.noun} to {scope.noun}"
        text = f"On four supercomputers ratios changed by {moved_elsewhere}; here this is unknown."
    return Sentence("another_job", text, {"jobs": scope.jobs, "algorithm_in_job": moved})


def history_document(history: History, remembered: Path) -> Document:
    """How much times vary between the jobs and launches of a machine, and where this is remembered."""
    found = history.components
    every, one = "all algorithms of a point", "one of them, so that ratios change"
    parts = (
        ("job", every, found.job),
        ("job", one, found.algorithm_in_job),
        ("launch in a job", every, found.launch),
        ("launch in a job", one, found.algorithm_in_launch),
    )
    entries = ((what, moved, Value(share, show=per_cent)) for what, moved, share in parts)
    columns = ("what varies", "what it moves", "standard deviation of ln time")
    return Document(
        f"Variation of times on {history.machine}",
        (
            Table("components", columns, rows(entries), f"{counted(history.jobs, 'job')} until {history.until}"),
            Sentence("remembered", f"{remembered} has this; later verdicts on {history.machine} name it."),
        ),
    )


MAX_BRIEF = 3
"""Points, gains or warnings that a brief answer names."""

_FEW_UNDECIDED = 5  # with fewer undecided points, only the launches for all of them are shown
_MANY_LAUNCHES = 1000  # beyond which a number of launches means: not by more launches


def exact(margins: Margins) -> str:
    """When simulated times differ."""
    return (
        "Simulated times do not vary, so no difference is due to chance: two times differ if their ratio is outside "
        f"{margins}."
    )


NOTHING_TO_SET = (
    "A simulation has no library to set: measure these points on the machine before you switch anything on."
)

NOT_RECORDED = "How to switch an algorithm on is not recorded: the campaign was imported."

OVERESTIMATED = "so probably somewhat overestimated"
"""The largest gain of many points, which the same launches both chose and measured (winner's curse)."""


def faster(verdict: Verdict) -> str:
    """`significantly faster`, or of simulated times, which do not vary, by how much."""
    return f"over {per_cent(verdict.margins.indifference)} faster" if verdict.simulated else "significantly faster"


def answer_blocks(verdict: Verdict, limits: Mapping[int, str] | None = None) -> Iterator[Block]:
    """The answer, the largest gains, and what would decide the rest.

    limits  names of the library's eager limits by their bytes, where it was asked for them
    """
    yield _answer(verdict)
    if verdict.margins != STANDARD:
        yield Sentence("margins", _margins(verdict.margins), asdict(verdict.margins))
    if verdict.too_busy:
        yield Sentence("too_busy", verdict.too_busy)
    if not _decides(verdict):
        if verdict.by_value == verdict.decided and verdict.largest_regret:
            yield _gain(verdict.largest_regret, verdict, f"Largest gain by value ({_of_many(verdict)}): ", depth=0)
        return
    if verdict.largest_regret:
        yield from _gains(verdict, limits or {})
    elif not verdict.undecided:
        shown = "" if verdict.simulated else "shown to be "
        least = per_cent(verdict.margins.equivalence)
        yield Sentence("no_gain", f"No {verdict.competitors} is {shown}over {least} faster.")
    if verdict.scope and not verdict.simulated:
        yield another_job(verdict.scope)
    if verdict.forecast:
        yield from _what_would_decide(verdict.forecast, verdict)


def answer_sentence(verdict: Verdict) -> str:
    """The answer alone."""
    return _answer(verdict).text


def definitions(verdict: Verdict) -> list[str]:
    """What the words of the answer mean; empty where it decides nothing."""
    about = (
        "A point is a collective at one size and rank count. The default is fine where it is shown to be at most "
        f"{per_cent(verdict.margins.equivalence)} slower than the fastest algorithm. Algorithms joined by = send the "
        "same messages there, in the same order. A cell is one algorithm at one point."
    )
    return [about] if _decides(verdict) else []


def how_sure(verdict: Verdict) -> list[str]:
    """How often chance errs; empty where the answer decides nothing."""
    return [exact(verdict.margins) if verdict.simulated else false_alarms(verdict.decided)] if _decides(verdict) else []


def _decides(verdict: Verdict) -> bool:
    return verdict.has_collectives and verdict.is_conclusive and verdict.by_value < verdict.decided


def false_alarms(points: int) -> str:
    """How many points of a campaign may be called slower by chance alone."""
    return (
        f"False alarms: on average the default is wrongly called slower at no more than {100 * ALPHA:.0f} % of the "
        f"points, here at most {ALPHA * points:.2g} of {points}; simulated campaigns had far fewer "
        "(docs/methodology.md)."
    )


def brief_warnings(warnings: Sequence[str]) -> list[str]:
    """At most three warnings, without what follows their first semicolon."""
    return [f"Warning: {warning.split('; ')[0]}" for warning in warnings[:MAX_BRIEF]]


def more_warnings(warnings: Sequence[str]) -> str:
    """How many `brief_warnings` leaves out, in words; empty where none."""
    left = len(warnings) - MAX_BRIEF
    return counted(left, "more warning") if left > 0 else ""


def _answer(verdict: Verdict) -> Sentence:
    fine = verdict.within_by_value if verdict.by_value else verdict.equivalent
    counts = {"fine": fine, "slower": verdict.slower, "undecided": verdict.undecided, "points": verdict.decided}
    points = counted(verdict.decided, "point")
    title = f"Verdict where ranks enter {' or '.join(verdict.arrivals)}" if verdict.arrivals else "Verdict"
    title += f" {holds_for(verdict.scope)}" if verdict.scope else ""
    if not verdict.has_collectives:
        text = "Verdict: none asked for; messages and transposes have no default to decide on."
    elif not verdict.decided:
        text = f"{title}: none; there is nothing that the default could be compared with."
    elif not verdict.is_conclusive:
        advice = f": {verdict.launches_advice}" if verdict.launches_advice else ""
        text = f"{title}: none yet; a comparison takes {counted(verdict.launches_needed, 'launch')}{advice}."
    elif verdict.by_value == verdict.decided:
        text = f"{title} by value alone, without a test: {_by_value(verdict)}."
    elif verdict.undecided == verdict.decided:
        text = f"{title}: undecided at {'the only point' if verdict.decided == 1 else f'all {points}'}."
    else:
        default = "the simulated default" if verdict.simulated else "your library's default"
        tested = counted(verdict.decided - verdict.by_value, "point")
        parts = [f"{default} is fine at {verdict.equivalent} of {tested}"]
        if verdict.slower:
            up_to = f", up to {verdict.largest_regret.gain:.2f} times" if verdict.largest_regret else ""
            parts.append(f"at {verdict.slower} another {verdict.winners} is faster{up_to}")
        if verdict.undecided:
            parts.append(f"{verdict.undecided} {'is' if verdict.undecided == 1 else 'are'} undecided")
        if verdict.by_value:
            parts.append(f"by value alone, without a test, {_by_value(verdict)}")
        text = f"{title}: {'; '.join(parts)}."
    return Sentence("answer", text, counts)


def _margins(margins: Margins) -> str:
    """The margins that are not the standard ones."""
    said = [
        f"{text.format(per_cent(given))} (usually {per_cent(usual)})"
        for text, given, usual in (
            ("a difference counts from {} on", margins.indifference, STANDARD.indifference),
            ("a default is fine at most {} slower than the fastest", margins.equivalence, STANDARD.equivalence),
        )
        if given != usual
    ]
    return f"By the margins given: {', and '.join(said)}."


def _by_value(verdict: Verdict) -> str:
    """The answer at points whose times allow no test: averages, or few imported launches of one job."""
    close = f"{verdict.within_by_value} of {counted(verdict.by_value, 'point')}"
    return f"the default takes at most {per_cent(verdict.margins.equivalence)} longer than the fastest at {close}"


def _gains(verdict: Verdict, limits: Mapping[int, str]) -> Iterator[Block]:
    """The largest gains, one an operation, each with what switches its best algorithm on."""
    shown = verdict.regrets[:MAX_BRIEF]
    several = len(shown) > 1
    chosen = f"{'the first is ' if several else ''}{_of_many(verdict)}"
    yield Sentence("largest_gains", f"Largest gain{'s' if several else ''} ({chosen}):")
    for loss in shown:
        yield _gain(loss, verdict)
        if limit := limits.get(loss.message_bytes):
            size = show_size(loss.message_bytes)
            why = f"{size} is the library's {limit}: a whole message waits for its receiver, smaller pieces do not"
            yield Sentence("eager_limit", why, {"limit": limit}, depth=2)
        if loss.set_by:
            yield Sentence("setting", f"{_where_set(loss)}: {loss.set_by} …", {"set_by": loss.set_by}, depth=2)
        if loss.set_by and loss.best_label.startswith(OWN):
            continue
        yield from (Sentence("part", str(part), asdict(part), depth=2) for part in loss.parts)
        if loss.at_other_points and (loss.set_by or verdict.simulated):
            yield Sentence("elsewhere", f"but {loss.at_other_points}", asdict(loss.at_other_points), depth=2)
    costly = [loss for loss in shown if loss.set_by and loss.at_other_points]
    if any(VARIANT_SIGN not in loss.best_label for loss in costly):
        which = "each algorithm" if any(VARIANT_SIGN in loss.best_label for loss in costly) else "each"
        yield Sentence("tune", f"`timpani tune` applies {which} only at the sizes at which it is faster.", depth=1)
    if verdict.simulated:
        yield Sentence("nothing_to_set", NOTHING_TO_SET)
    if not verdict.settings_recorded:
        yield Sentence("not_recorded", NOT_RECORDED)


def _where_set(loss: DefaultRegret) -> str:
    if loss.best_label.startswith(OWN):
        return "by rules (`timpani rules`)"
    return "in the whole program" if VARIANT_SIGN in loss.best_label else f"in all calls of {loss.collective}"


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


def _gain(loss: DefaultRegret, verdict: Verdict, before: str = "", depth: int = 1) -> Sentence:
    scope, simulated = verdict.scope, verdict.simulated
    size = f" at {show_size(loss.message_bytes)}" if is_sized(loss.collective) else ""
    known = loss.gain_low is not None and loss.gain_high is not None
    ends = f"bounds of {per_cent(1 - RACE_ALPHA)} each:" if loss.raced else f"{per_cent(1 - ALPHA)} interval"
    another = loss.another_low is not None and loss.another_high is not None
    further = f"; in another job {loss.another_low:.2f} to {loss.another_high:.2f}" if another else ""
    interval = f" ({ends} {loss.gain_low:.2f} to {loss.gain_high:.2f}{further})" if known else ""
    alone = "" if known or simulated else f"{f' in one {scope.noun}' if scope else ''}, by value alone"
    where = f"{loss.collective}{size} on {counted(loss.ranks, 'rank')}"
    text = f"{before}{where}: {loss.schedule or loss.best_label}, {loss.gain:.2f} times as fast{interval}{alone}"
    return Sentence("gain", text, {"collective": loss.collective, "best": loss.best_label, "gain": loss.gain}, depth)


def _what_would_decide(forecast: DecisionForecast, verdict: Verdict) -> Iterator[Block]:
    """How many launches would probably decide half of what is undecided, of few points all; and the command."""
    of_jobs = forecast.unit == "job"
    few = forecast.of < _FEW_UNDECIDED
    low, high = forecast.between(forecast.most if few else forecast.half)
    noun = f"{verdict.scope.noun if verdict.scope else forecast.unit}s" if of_jobs else "launches"
    if low >= _MANY_LAUNCHES:
        number = f"more than {_MANY_LAUNCHES} {noun}"
    elif high >= _MANY_LAUNCHES:
        number = f"{low} or more {noun}"
    else:
        number = f"{low} to {high} {noun}" if low < high else f"{low} {noun}"
    least, longest = forecast.seconds_for(low), forecast.seconds_for(high)
    known = least is not None and longest is not None and high < _MANY_LAUNCHES
    time = f" ({show_range(least or 0.0, longest or 0.0)}{' more' if of_jobs else ''})" if known else ""
    enough = (
        f"{number} in total{time}"
        if of_jobs
        else f"{number} in one {verdict.scope.noun if verdict.scope else 'run'}{time}"
    )
    some = "" if forecast.of == verdict.undecided else f"{forecast.of} of "
    points = f"{some}the undecided {'point' if verdict.undecided == 1 else 'points'}"
    points = f"{points[0].upper()}{points[1:]}" if few else f"Half of {points}"
    text = f"{points} would probably be decided after {enough}."
    yield Sentence("would_decide", text, asdict(forecast))
    if verdict.decide_command:
        yield NextCommand("decide", verdict.decide_command, "The next of them" if of_jobs else "", depth=1)


def affordable_launches(forecast: DecisionForecast) -> tuple[int, float | None] | None:
    """The total launches that the command asks for, and the seconds that these take; None if no number helps. In
    one job more cannot be measured than one job."""
    if forecast.unit == "job" and forecast.half < _MANY_LAUNCHES:
        return forecast.with_one_more, None
    for launches in (forecast.most, forecast.half):
        if launches < _MANY_LAUNCHES:
            return launches, forecast.seconds_for(launches)
    return None
