"""The commands that follow from a profile."""

import shlex
from collections.abc import Iterable
from pathlib import Path

from timpani.programs.profile_folder import ProgramProfile
from timpani.programs.savings import Savings


def next_commands(profile: ProgramProfile, savings: Savings | None) -> list[tuple[str, str]]:
    """Each next step, with its command.

    savings  of the campaigns that are given; None without any
    """
    command = shlex.join(profile.header.command) if profile.header else ""
    place = shlex.quote(str(profile.folder))
    known = savings.campaigns if savings else ()
    found = []
    if savings is None or len(savings.covered) < len(savings.points):
        what = "Measure what no campaign covers" if known else "Measure what the program calls"
        rest = "rest" if Path("rest") not in known else f"rest-{len(known)}"
        new = rest if known else "measured"
        found = [
            (what, f"timpani run --for {place}{_covered_by(known)} -o {new}"),
            ("Show what the measured algorithms would save", f"timpani show {place}{_covered_by([*known, Path(new)])}"),
        ]
    found.append(("Write tuning files for the program", f"timpani tune --for {place} -o tuned"))
    if command:
        found.append(("Check the files on the program", f"timpani confirm tuned -- {command}"))
    return found


def _covered_by(campaigns: Iterable[Path]) -> str:
    return "".join(f" --covered-by {shlex.quote(str(folder))}" for folder in campaigns)
