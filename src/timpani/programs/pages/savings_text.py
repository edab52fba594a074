"""What better algorithms are expected to save a program, in sentences."""

from collections.abc import Iterator

from timpani.programs.pages.next_commands import next_commands
from timpani.programs.pages.profile_text import seconds_in_words, spent_words, waiting_words
from timpani.programs.profile_folder import ProgramProfile
from timpani.programs.savings import PointSaving, Savings
from timpani.report.document.text import aligned
from timpani.stats.regret import ALPHA
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent

_HEADINGS = (
    *("collective", "ranks", "nodes", "size", "calls", "seconds"),
    *("saved", "from", "to", "faster algorithm", "differences"),
)
SAVED_COLUMN = _HEADINGS.index("saved")


def savings_sentence(profile: ProgramProfile, savings: Savings) -> str:
    """The verdict: time in collectives, what algorithms are expected to save, and what no algorithm changes."""
    part = profile.main_part
    low, high = savings.bounds
    expected = (
        f"better algorithms are expected to save {seconds_in_words(savings.saved)} "
        f"({seconds_in_words(low)} to {seconds_in_words(high)})"
        if savings.saved
        else "no measured algorithm is significantly faster than the default where it spends time"
    )
    return f"{spent_words(part)}; {expected}; {waiting_words(part)}"


def savings_lines(profile: ProgramProfile, savings: Savings) -> Iterator[str]:
    """The verdict, the points behind it, and how to measure what is not covered."""
    yield savings_sentence(profile, savings)
    if savings.raced and savings.in_mpi:
        yield (
            f"other algorithms could save at most {seconds_in_words(savings.lost)} more, "
            f"{per_cent(savings.lost / savings.in_mpi)} of its {seconds_in_words(savings.in_mpi)} in MPI "
            f"({per_cent(1 - ALPHA)} bounds of the points, added up)"
        )
    yield from aligned(savings_rows(savings))
    yield from (f"note: {note}" for note in savings.notes)
    if missing := len(savings.points) - len(savings.covered):
        [(_, command), *_] = next_commands(profile, savings)
        share = per_cent(1 - savings.covered_seconds / savings.changeable) if savings.changeable else "nothing"
        yield (
            f"not measured: {counted(missing, 'point')}, {share} of the time that an algorithm can change; "
            f"to measure: {command}"
        )


def savings_rows(savings: Savings) -> list[tuple[str, ...]]:
    """Headings, then a row for each point."""
    return [_HEADINGS, *map(_row, savings.points)]


def _row(each: PointSaving) -> tuple[str, ...]:
    point = each.point
    numbers = [f"{number:.4f}" for number in (each.saved, each.low, each.high)] if each.best else ["", "", ""]
    return (
        point.collective,
        str(point.ranks),
        str(point.nodes),
        show_size(point.message_bytes),
        f"{point.calls:.0f}",
        f"{point.seconds:.4f}",
        *numbers,
        each.best or ("the default" if each.measured else "not measured"),
        "; ".join(each.differences),
    )
