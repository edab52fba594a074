"""What a verdict holds for: one job, several, or the machine; and what another job may change."""

from math import sqrt
from pathlib import Path

from timpani.judge.jobs import JOBS_OF_A_MACHINE, History, JobScope
from timpani.machine.nodes.model import fold
from timpani.report.document.blocks import Document, Sentence
from timpani.report.document.table import Table, Value, rows
from timpani.study.words import counted, per_cent

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
        elsewhere = f"on four supercomputers by {low:.0f} to {high:.0f} %"
        text = f"Another {scope.noun} may change ratios, by an unknown amount; {elsewhere}."
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
