"""The line that recommends comparing two installed libraries by pairs, in place of two campaigns hours apart."""

import os
import shlex
from pathlib import Path

from timpani.campaign.folder.load import Campaign
from timpani.study.operations import OPERATIONS


def paired_way(before: Campaign, after: Campaign) -> str | None:
    """How to measure the libraries of two campaigns in one; None where they are the same, or not both here.

    The recorded launchers are looked for, and not run: a campaign may come from anywhere.
    """
    first, second = before.header, after.header
    if first.mpi == second.mpi or first.machine.name != second.machine.name:
        return None
    launchers = [header.mpi.mpirun for header in (first, second)]
    if not all(_is_launcher(each) for each in launchers):
        return None
    shared = [name for name in first.study.collectives if name in second.study.collectives and name in OPERATIONS]
    if not shared:
        return None
    ranks = ",".join(str(count) for count in sorted(set(first.study.ranks) & set(second.study.ranks)))
    sizes = ",".join(str(size) for size in sorted(set(first.study.sizes) & set(second.study.sizes)))
    given = [*(["--ranks", ranks] if ranks else []), *(["--sizes", sizes] if sizes else [])]
    words = ["timpani", "run", *shared, *given, *(word for each in launchers for word in ("--mpi", each))]
    return (
        "Both libraries are installed here. One campaign starts both in each block, so that what disturbs the machine "
        f"cancels in their ratio: {shlex.join(words)}"
    )


def _is_launcher(path: str) -> bool:
    return bool(path) and Path(path).is_absolute() and Path(path).is_file() and os.access(path, os.X_OK)
