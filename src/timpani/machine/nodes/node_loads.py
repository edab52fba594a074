"""The load of nodes, from a file with a line for each: `node03 1.25`, as `sinfo -Nho '%N %O'` prints."""

from math import isfinite
from pathlib import Path

from timpani.errors import UserError
from timpani.reading import read_lines

_STEP = "write `NODE LOAD` lines, as `sinfo -Nho '%N %O'` prints them"
_UNKNOWN = "N/A"
"""Slurm's word for a load that a node did not report."""


def read_loads(path: Path) -> dict[str, float]:
    """Cores kept busy on each node; nodes of unknown load are left out. UserError where a line is something else."""
    loads: dict[str, float] = {}
    for number, line in enumerate(read_lines(path, "the file of loads", _STEP), 1):
        match line.split():
            case []:
                continue
            case [_, word] if word == _UNKNOWN:
                continue
            case [node, word] if (load := _load(word)) is not None:
                loads[node] = load
            case _:
                raise UserError(f"{path}, line {number}: {line.strip()!r} is not a node with its load", _STEP)
    if not loads:
        raise UserError(f"{path} has no node with a load", _STEP)
    return loads


def _load(word: str) -> float | None:
    try:
        value = float(word)
    except ValueError:
        return None
    return value if isfinite(value) and value >= 0 else None
