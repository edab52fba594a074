"""Have our algorithms verified: by the native verifier, an algorithm at a time on each core."""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from os import sched_getaffinity
from pathlib import Path
from typing import Any

from timpani.errors import UserError, unknown
from timpani.providers.catalogue import Catalogue

Range = tuple[int, int]
"""The first and the last of a range, both in it."""

_LARGEST = 1_000_000


def parse_range(text: str, least: int) -> Range:
    """Read `FIRST:LAST` or one number; both within `least` and a million."""
    match = re.fullmatch(r"(\d{1,9})(?::(\d{1,9}))?", text.strip())
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if not least <= first <= last <= _LARGEST:
        raise UserError(
            f"'{text}' is no range", f"write FIRST:LAST with {least} ≤ FIRST ≤ LAST, for example {least}:64"
        )
    return first, last


def resolve_names(names: Iterable[str], own: Catalogue) -> list[str]:
    """`collective/algorithm` of each name, aliases replaced; `all` stands for every algorithm, `collective` for its."""
    found: dict[str, None] = {}
    for name in names:
        collective, slash, algorithm = name.removeprefix("timpani/").partition("/")
        if name == "all":
            found.update((f"{each.collective}/{each.name}", None) for each in own)
            continue
        if collective not in own.algorithms:
            raise unknown("collective", collective, own.algorithms, "timpani list algorithms")
        for info in own.algorithms[collective]:
            if not slash or algorithm in (info.name, *info.aliases):
                found[f"{collective}/{info.name}"] = None
        if slash and not any(algorithm in (each.name, *each.aliases) for each in own.algorithms[collective]):
            known = [each.name for each in own.algorithms[collective]]
            raise unknown(f"{collective} algorithm of timpani", algorithm, known, "timpani list algorithms")
    return list(found)


def verify_algorithms(programs: Path, names: list[str], ranks: Range, counts: Range) -> Iterator[dict[str, Any]]:
    """The verifier's finding for each of `names`, in their order.

    Each has `collective`, `algorithm`, `checked` cases and `seconds`, and `mistake` where there is one.
    """
    limits = [str(number) for number in (*ranks, *counts)]

    def run(name: str) -> dict[str, Any]:
        command = [str(programs / "timpani-verify"), "check", *limits, name]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        if answer.returncode not in (0, 1):
            raise UserError(f"the verifier ended at {name}: {answer.stderr.strip()}", "try fewer ranks or elements")
        finding: dict[str, Any] = json.loads(answer.stdout)
        return finding

    with ThreadPoolExecutor(len(sched_getaffinity(0))) as pool:
        yield from pool.map(run, names)
