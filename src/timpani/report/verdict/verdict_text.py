"""The verdict on a campaign as `timpani run` ends with it, and as JSON; docs/reference.md names the keys."""

import shlex
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from typing import Any

import polars as pl

from timpani.campaign.folder.bundle import typed_place
from timpani.campaign.folder.header import further_command
from timpani.campaign.folder.load import Campaign
from timpani.campaign.folder.machine_states import machine_states, state_sentences
from timpani.campaign.read.campaign_warnings import campaign_warnings, load_warnings, machine_loads, too_busy
from timpani.campaign.read.study_names import notes_on
from timpani.judge.cell_table import estimate_cells
from timpani.judge.decide import SAMPLED, compared_with_default, decide
from timpani.judge.equal_schedules import (
    JOINED,
    EqualSchedules,
    equal_schedules,
    schedule_name,
    without_contradictions,
)
from timpani.judge.jobs import JobScope, job_scope
from timpani.judge.other_points import at_other_points, gain_parts
from timpani.judge.raced import (
    MIN_EXCESS,
    DroppedVariant,
    RaceVerdict,
    race_standings,
    race_verdict,
    raced_results,
)
from timpani.judge.verdict import Verdict, summarize
from timpani.libraries.find import eager_limits, within_node
from timpani.libraries.registry import LIBRARIES
from timpani.report.document.blocks import Block, Document, NextCommand, Sentence
from timpani.report.document.text import text_of
from timpani.report.verdict.answer import (
    affordable_launches,
    answer_blocks,
    brief_warnings,
    definitions,
    how_sure,
    more_warnings,
)
from timpani.slices import Hook
from timpani.stats.compare import ALPHA
from timpani.stats.regret import ALPHA as RACE_ALPHA
from timpani.stats.regret import ANALYSES
from timpani.study.cell import OWN
from timpani.study.operations import COLLECTIVES
from timpani.study.schema import POINT
from timpani.study.words import counted, per_cent

VERDICT_LINES: Hook[Callable[[Campaign], Iterator[str]]] = Hook("VERDICT_LINES")
"""Lines that slices add to the answer."""


def verdict_of(campaign: Campaign, decisions: pl.DataFrame, cells: pl.DataFrame) -> Verdict:
    """The verdict, with what the campaign knows in addition to its results: its `decide` and its `estimate_cells`."""
    header, compared = campaign.header, compared_with_default(campaign)
    asked, equal, scope = header.study.launches, schedules_of(campaign, cells), job_scope(campaign)
    seconds, margins = campaign.launch_seconds, campaign.margins
    verdict = summarize(decisions, cells, seconds, asked, campaign.settings, compared, equal, scope, margins)
    if (busy := too_busy(campaign.launches)) and (verdict.undecided or not verdict.is_conclusive):
        return replace(verdict, forecast=None, launches_advice="", too_busy=busy)
    if verdict.forecast is None or not (affordable := affordable_launches(verdict.forecast)):
        return verdict
    if typed_place(campaign.folder) != campaign.folder:  # nothing can be measured into a bundle
        return verdict
    anew = verdict.forecast.unit == "launch"  # in the same folder they would be another run, which replaces launches
    folder = campaign.folder.with_name(f"{campaign.folder.name}-{affordable[0]}") if anew else campaign.folder
    return replace(verdict, decide_command=further_command(header, folder, *affordable))


def schedules_of(campaign: Campaign, cells: pl.DataFrame) -> EqualSchedules:
    """Which of its algorithms are one schedule, by its counted messages, by what is known of its library, and by
    times that don't contradict it."""
    library = LIBRARIES.get(campaign.header.mpi.kind)
    found = equal_schedules(cells, campaign.proofs, library.algorithms.on_two_ranks if library else {})
    return without_contradictions(found, compared_with_default(campaign))


def conditions(campaign: Campaign) -> Iterator[str]:
    """What to know of the machine and the records before figures are believed; of cells see `Verdict.warnings`."""
    yield from campaign_warnings(campaign)
    yield from state_sentences(campaign.results)


def verdict_document(campaign: Campaign, full: bool = False) -> Document:
    """The answer, what to do, and at most three warnings; all of them, and what they rest on, if `full`. What stands in
    for a named algorithm follows."""
    blocks = [*_verdict_blocks(campaign, full)]
    notes = notes_on(campaign.stand_ins, text_of(blocks))
    at = len(blocks) - (not full)
    blocks[at:at] = [Sentence("stand_in", note) for note in notes]
    return Document(campaign.header.study.title or "Verdict", tuple(blocks))


def _verdict_blocks(campaign: Campaign, full: bool) -> Iterator[Block]:
    cells = estimate_cells(raced_results(campaign))
    messages = _messages(campaign, cells)
    verdict = verdict_of(campaign, decide(raced_results(campaign)), cells)
    race = race_blocks(race_verdict(raced_results(campaign), campaign.planned), verdict.scope, full)
    warnings = [*conditions(campaign), *verdict.warnings]
    if verdict.has_collectives or not messages:
        yield from answer_blocks(verdict, _limits(campaign) if verdict.regrets else {})
    yield from (Sentence("added", line) for lines in VERDICT_LINES.added() for line in lines(campaign))
    yield from (Sentence("messages", line) for line in messages)
    yield from race
    if full:
        yield from (Sentence("operation", sentence, depth=1) for sentence in verdict.sentences)
        yield from (Sentence("how_sure", line) for line in (*definitions(verdict), *how_sure(verdict)))
        yield from (Sentence("warning", f"Warning: {warning}") for warning in warnings)
        return
    answered = {*load_warnings(campaign.launches)} if verdict.too_busy else ()
    warnings = [each for each in warnings if each not in answered]
    yield from (Sentence("warning", warning) for warning in brief_warnings(warnings))
    more = ", ".join(filter(None, ("each operation", "how sure this is", more_warnings(warnings))))
    place = shlex.quote(str(typed_place(campaign.folder)))
    yield NextCommand("details", f"timpani verdict {place} --details{campaign.margins.options}", f"Details ({more})")


def _limits(campaign: Campaign) -> dict[int, str]:
    """The names of the library's eager limits within a node by their bytes; none of a campaign on several nodes."""
    mpi = campaign.header.mpi
    if campaign.header.machine.cluster is not None:
        return {}
    found = eager_limits(mpi.kind, mpi.version)
    # A limit with "rndv" is of what a rendezvous sends along with its request.
    return {size: name for name, size in found.items() if within_node(name) and "rndv" not in name and "eager" in name}


def _messages(campaign: Campaign, cells: pl.DataFrame) -> tuple[str, ...]:
    if set(cells["collective"]) - COLLECTIVES.keys():
        # Models take longer to load than most commands take: no other run waits for them.
        from timpani.report.verdict.message_summary import message_summary, summary_lines

        if messages := message_summary(campaign, cells):
            return tuple(summary_lines(messages))
    return ()


def verdict_object(campaign: Campaign) -> dict[str, Any]:
    """What `timpani verdict --format json` prints."""
    header = campaign.header
    cells, decisions = estimate_cells(raced_results(campaign)), decide(raced_results(campaign))
    verdict, race = verdict_of(campaign, decisions, cells), race_verdict(raced_results(campaign), campaign.planned)
    standings = race_standings(raced_results(campaign))
    decisions = pl.concat([decisions, _sampled_points(standings)], how="diagonal").sort(POINT)
    standings = standings.select(*POINT, "regret_high", "race_launches", "race_over", "race_ended")
    by_value = {"points": verdict.by_value, "equivalent": verdict.within_by_value} if verdict.by_value else None
    return {
        "title": header.study.title,
        "mpi": {"kind": header.mpi.kind, "version": header.mpi.version},
        "machine": header.machine.name,
        "timpani": header.timpani,
        "created": header.created,
        "compared": verdict.decided,
        "margins": asdict(campaign.margins),
        "equivalent": verdict.equivalent,
        "slower": verdict.slower,
        "undecided": verdict.undecided,
        "false_alarms": ALPHA * verdict.decided,
        "by_value": by_value,
        "jobs": _jobs(verdict.scope),
        "race": asdict(race) if race else None,
        "launches_asked": header.study.launches,
        "too_few_launches": verdict.too_few_launches,
        "would_decide": asdict(verdict.forecast) | {"command": verdict.decide_command} if verdict.forecast else None,
        "load": [asdict(load) | {"is_disturbing": load.is_disturbing} for load in machine_loads(campaign.launches)],
        "states": [asdict(state) for state in machine_states(campaign.results)],
        "warnings": [*campaign_warnings(campaign), *verdict.warnings],
        "left_out": list(header.left_out),
        "settings_recorded": verdict.settings_recorded,
        "simulated": verdict.simulated,
        "points": list(
            _points(
                decisions.join(standings, on=POINT, how="left", maintain_order="left"),
                cells,
                campaign.settings or {},
                compared_with_default(campaign),
                schedules_of(campaign, cells),
            )
        ),
    }


def _jobs(scope: JobScope | None) -> dict[str, Any] | None:
    if scope is None:
        return None
    days = {"first": scope.first.isoformat(), "last": scope.last.isoformat()}
    return asdict(scope) | days | {"nodes": [*scope.nodes], "at_a_point": [*scope.at_a_point]}


def _sampled_points(standings: pl.DataFrame) -> pl.DataFrame:
    """The sampled points of `race_standings`: nothing is decided there."""
    sampled = standings.filter(~pl.col("race_complete"))
    return sampled.select(*POINT, pl.lit(SAMPLED).alias("standing"))


def _points(
    decisions: pl.DataFrame,
    cells: pl.DataFrame,
    settings: dict[str, dict[str, str]],
    compared: pl.DataFrame,
    equal: EqualSchedules,
) -> Iterator[dict[str, Any]]:
    """Of each point: where, its standing, default and best with their ratio, and what would decide it."""
    timed = cells.filter(pl.col("launches") > 0)
    launches = timed.group_by(POINT).agg(pl.min("launches"), pl.max("launches_needed"))
    at_points = decisions.join(launches, on=POINT, how="left", maintain_order="left")
    for row in at_points.iter_rows(named=True):
        setting = settings.get(row["collective"], {}).get(row["best_label"])
        in_all_calls = setting is not None and not row["best_label"].startswith(OWN)
        costs = at_other_points(compared, row, row["best_label"]) if in_all_calls else None
        where = (row["collective"], row["ranks"], row["message_bytes"], row["best_label"])
        same = schedule_name(equal, *where).split(JOINED) if row["best_label"] else None
        parts = gain_parts(compared, row, row["best_label"]) if row["best_label"] else ()
        extra = {
            "setting": setting,
            "setting_elsewhere": costs and asdict(costs),
            "parts": [_renamed(asdict(part)) for part in parts],
            "same_schedule": same,
        }
        yield _renamed(row) | extra


def _renamed(row: dict[str, Any]) -> dict[str, Any]:
    """The columns of a decision by the names that scripts know."""
    return {name.removesuffix("_label").replace("gain", "ratio"): value for name, value in row.items()}


def race_blocks(race: RaceVerdict | None, scope: JobScope | None = None, full: bool = True) -> Iterator[Sentence]:
    """The points where a race bounded the regret and the variants that it dropped; if `full` the other points with the
    reason, and what the bounds mean.

    Nothing without a race. scope: the jobs that measured it; None if unknown
    """
    if race is None:
        return
    several = scope is not None and scope.jobs > 1
    yield Sentence(
        "race", f"Race{_in_jobs(scope)}: {_reached(race)}.", {"points": race.points, "reached": race.reached}
    )
    if race.dropped_variants:
        found = (f"{each.name} after launch {each.launch} ({_drop_reason(each)})" for each in race.dropped_variants)
        yield Sentence("dropped", f"Dropped before the race ended: {'; '.join(found)}.")
    if not full:
        return
    if race.program and race.points:
        yield Sentence(
            "program",
            f"All choices together lose at most {per_cent(race.program.bound)} of the program's time in MPI "
            f"(sum of the points' bounds; {per_cent(race.program.allowed)} is accepted).",
        )
    if race.points:
        yield from _not_reached(race, f"More {scope.noun}s" if scope and several else _MORE_LAUNCHES)
    yield from _not_raced(race)
    if not race.points:
        return
    if scope and several:
        measured = f"Where several {scope.noun}s measured the choice, the {scope.noun} is the replicate of its bound"
        yield Sentence("replicate", f"{measured}, which has its confidence at one analysis, not at several.")
    yield Sentence(
        "bounds",
        f"Each {'other ' if several else ''}one-sided bound has {per_cent(1 - RACE_ALPHA)} confidence versus the truly "
        f"best algorithm of a point, at all interim analyses together; both bounds of a gain have "
        f"{per_cent(1 - 2 * RACE_ALPHA)}. The launches that chose an algorithm also estimate its gain. "
        "Cross-validation corrects part of this bias (the winner's curse).",
    )


def _in_jobs(scope: JobScope | None) -> str:
    if scope is None:
        return ""
    return f" over {counted(scope.jobs, scope.noun)}" if scope.jobs > 1 else f" in this {scope.noun}"


def _reached(race: RaceVerdict) -> str:
    """At how many points the choice is good enough, and the largest bound elsewhere."""
    if not race.points:
        return f"nothing was raced at {counted(race.requested, 'requested point')}"
    of = counted(race.points, "point")
    if race.points != race.requested:
        of += f" that {'was' if race.points == 1 else 'were'} raced, of {race.requested} requested"
    smallest, largest = (f"{100 * each:.2g}" for each in (race.smallest_accepted, race.accepted))
    most = f"{smallest} %" if smallest == largest else f"{smallest} to {largest} % (by its weight)"
    best = f"the best ({per_cent(1 - RACE_ALPHA)} bound)"
    text = f"the choice takes at most {most} longer than {best} at {race.reached} of {of}"
    if race.reached < race.points and race.largest is not None:
        text += f"; the largest bound is {_bound(race.largest)}"
    return f"{text}; {race.unbounded} without a bound yet" if race.unbounded else text


def _drop_reason(dropped: DroppedVariant) -> str:
    others = dropped.points - dropped.slower - dropped.abandoned
    reasons = {
        "slower": dropped.slower,
        "failed": dropped.abandoned,
        "hardly better than the choice, if at all,": others,
    }
    named = [f"{reason} at {count}" for reason, count in reasons.items() if count]
    return f"{', '.join(named)} of {counted(dropped.points, 'point')}"


_MORE_LAUNCHES = f"More launches (--launches, --budget), up to {ANALYSES[-1]} at a point,"


def _not_reached(race: RaceVerdict, more: str) -> Iterator[Sentence]:
    """The points with a bound wider than the accepted regret: whether `more` of something helps, or the reason."""
    if race.more_launches:
        yield Sentence("more", f"{more} would narrow the bound at {counted(race.more_launches, 'point')}.")
    causes = {
        f"that would need over {ANALYSES[-1]} launches, the last interim analysis": race.beyond_last_analysis,
        f"after {ANALYSES[-1]} launches, the last interim analysis": race.at_last_analysis,
        "that would take more time than they are worth; with a --budget they continue": race.too_expensive,
        "whose calls take too little of the program's time": race.little_time,
    }
    undecided = [f"{counted(count, 'point')} {cause}" for cause, count in causes.items() if count]
    if undecided:
        yield Sentence(
            "undecided",
            f"Still undecided: {'; '.join(undecided)} (`race_ended` in `timpani show --format csv` and "
            "`timpani verdict --format json`).",
        )
    if race.partly_failed:
        yield Sentence(
            "partly_failed",
            f"Some algorithms failed at {counted(race.partly_failed, 'point')}: the best there is the best of the "
            "others.",
        )


def _not_raced(race: RaceVerdict) -> Iterator[Sentence]:
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
        yield Sentence("not_raced", f"{text[0].upper()}{text[1:]}.")
    if race.unexpected:
        one = race.unexpected == 1
        yield Sentence(
            "unexpected",
            f"At {race.unexpected} of these sampled points the neighbors' choice seems to take over "
            f"{per_cent(MIN_EXCESS)} longer than another algorithm. No launch was left to race "
            f"{'it' if one else 'them'}: measure with more --launches.",
        )


def _bound(share: float) -> str:
    """`34 %`, or `270 times the best` for large bounds, with two significant digits."""
    if share < 10:
        return f"{float(f'{100 * share:.2g}'):g} %"
    return f"{float(f'{1 + share:.2g}'):,.0f} times the best"
