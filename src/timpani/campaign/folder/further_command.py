"""The command that measures more launches of a campaign."""

import shlex
from math import ceil
from pathlib import Path

from timpani.campaign.folder.header import Header

_OPTIONS = {"--launches": 1, "--budget": 1, "--output": 1, "-o": 1, "--dry-run": 0}
"""Options of `timpani run` that are given anew, or left out; each with how many values it takes."""

_SLACK = 1.25  # of a budget: launches take longer on a busier machine
_MINUTE = 60


def further_command(header: Header, folder: Path, launches: int, seconds: float | None) -> str | None:
    """The campaign's last `timpani run` command with `--launches`; None where no such command made it.

    seconds  what the missing launches probably take; a campaign with a budget gets one that lasts that long
    """
    words = shlex.split(header.commands[-1]) if header.commands else []
    if words[:2] != ["timpani", "run"]:
        return None
    given = ["-o", str(folder), "--launches", str(launches)]
    if header.study.budget is not None and seconds is not None:
        given += ["--budget", f"{ceil(_SLACK * seconds / _MINUTE)}m"]
    return shlex.join([*_without_options(words), *given])


def _without_options(words: list[str]) -> list[str]:
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        name, has_value, _ = word.partition("=")
        if name not in _OPTIONS:
            kept.append(word)
        elif not has_value and _OPTIONS[name]:
            next(rest, None)
    return kept
