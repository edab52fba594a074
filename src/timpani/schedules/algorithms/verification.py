"""Timpani's algorithms, as the native verifier lists and verifies them: one at a time on each core."""

import json
import os
import re
import subprocess
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from timpani.errors import AlgorithmError, UserError, unknown
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameter, Restrictions, remember_names
from timpani.native.build import FIRST, LIST, build_without_mpi
from timpani.native.children import crash, on_every_core, usable_cores
from timpani.native.mpi import Mpi
from timpani.native_sources import ALGORITHMS
from timpani.study.cell import OWN
from timpani.version import __version__

_MEND = f"mend the algorithms in the folder {ALGORITHMS}, or unset it"
_RENAME = f"give the one in the folder {ALGORITHMS} another name"


def own_catalogue(mpi: Mpi | None) -> Catalogue:
    """What the programs built for `mpi`, or without a library, can run."""
    return read_own_catalogue(build_without_mpi(mpi, programs=FIRST))


def read_own_catalogue(programs: Path) -> Catalogue:
    """What the native programs in the folder `programs` can run.

    AlgorithmError where two algorithms have one name, and where a user's algorithm ends the program.
    """
    answer = subprocess.run([programs / LIST], capture_output=True, text=True, check=False)
    if signal := crash(answer.returncode):
        raise AlgorithmError(f"{LIST} ended before it listed the algorithms: {signal}", _MEND)
    answer.check_returncode()
    algorithms: dict[str, tuple[AlgorithmInfo, ...]] = {}
    for line in map(json.loads, answer.stdout.splitlines()):
        info = AlgorithmInfo(
            collective=line["collective"],
            name=line["name"],
            value=line["name"],
            parameters=tuple(
                Parameter(
                    each["name"],
                    "",
                    each["default"],
                    each["meaning"],
                    each["minimum"],
                    trial_values=tuple(each["trial_values"]),
                )
                for each in line["parameters"]
            ),
            aliases=tuple(line["aliases"]),
            restrictions=Restrictions(
                line["power_of_two"], line["even"], line["commutative"], line["topology"], line["window"]
            ),
            source=line["source"],
            cost=line["cost"],
        )
        others = algorithms.get(info.collective, ())
        if info.name in (each.name for each in others):
            raise AlgorithmError(f"two algorithms are called {info.collective}/{info.name}", _RENAME)
        algorithms[info.collective] = (*others, info)
    own = Catalogue(OWN, __version__, algorithms)
    remember_names(own)
    return own


Range = tuple[int, int]
"""The first and the last of a range, both in it."""

_LARGEST = 1_000_000

_STEP = 16
"""Rank counts that are verified in one go."""

_GROWTH = 2
"""Exponent by which the work at a rank count grows, about: for how far one is."""


def parse_range(text: str, least: int) -> Range:
    """Read `FIRST:LAST` or one number; both within `least` and a million."""
    match = re.fullmatch(r"(\d{1,9})(?::(\d{1,9}))?", text.strip())
    first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
    if not least <= first <= last <= _LARGEST:
        raise UserError(
            f"'{text}' is not a range", f"write FIRST:LAST with {least} ≤ FIRST ≤ LAST, for example {least}:64"
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


def with_own_counts(names: Collection[str], own: Catalogue) -> list[str]:
    """The algorithms with the names of `names` in the collectives with a count for each rank, as in allgatherv, that
    `names` lacks."""
    varied = (name.replace("/", "v/", 1) for name in names)
    known = {f"{each.collective}/{each.name}" for each in own}
    return [name for name in varied if name in known and name not in names]


def verify_algorithms(
    programs: Path,
    names: list[str],
    ranks: Range,
    counts: Range,
    passed: Callable[[float], None] = lambda share: None,
) -> Iterator[dict[str, Any]]:
    """The verifier's finding for each of `names`, in their order.

    Each has `collective`, `algorithm`, `checked` cases and `seconds`, and `mistake` where there is one. `passed` is
    called with the share of the whole, 0 to 1, of each step: some rank counts of one algorithm. An algorithm that ends
    the verifier has this as its mistake.
    """
    steps = _steps(ranks)
    weights = [sum(count**_GROWTH for count in range(first, last + 1)) for first, last in steps]
    whole = sum(weights) * len(names)
    wrong: set[str] = set()

    def run(step: tuple[str, Range]) -> dict[str, Any] | None:
        name, part = step
        if name in wrong:
            return None
        command = [str(programs / "timpani-verify"), "check", *map(str, (*part, *counts)), name]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        if signal := crash(answer.returncode):
            finding = _ended(name, part, signal)
        elif answer.returncode in (0, 1):
            finding = json.loads(answer.stdout)
        else:
            why = answer.stderr.strip() or f"status {answer.returncode}"
            raise UserError(f"the verifier ended at {name}: {why}", "try fewer ranks or elements")
        if "mistake" in finding:
            wrong.add(name)
        return finding

    with on_every_core() as pool:
        results = pool.map(run, [(name, part) for name in names for part in steps])
        for _ in names:
            findings = []
            for weight in weights:
                findings.append(next(results))
                passed(weight / whole)
            yield _joined([finding for finding in findings if finding])


def _ended(name: str, ranks: Range, signal: str) -> dict[str, Any]:
    """The finding of an algorithm that ended the verifier."""
    collective, _, algorithm = name.partition("/")
    mistake = f"{ranks[0]} to {ranks[1]} ranks: it ended the verifier: {signal}"
    return {"collective": collective, "algorithm": algorithm, "checked": 0, "seconds": 0.0, "mistake": mistake}


def _steps(ranks: Range) -> list[Range]:
    """The range in parts that end at multiples of _STEP, so that one with many ranks shows its progress."""
    first, last = ranks
    starts = [first, *range((first // _STEP + 1) * _STEP + 1, last + 1, _STEP)]
    return [(start, end - 1) for start, end in zip(starts, [*starts[1:], last + 1], strict=True)]


def _joined(findings: list[dict[str, Any]]) -> dict[str, Any]:
    """One algorithm's findings as one, with the first mistake."""
    whole = findings[0] | {key: sum(finding[key] for finding in findings) for key in ("checked", "seconds")}
    mistakes = [finding["mistake"] for finding in findings if "mistake" in finding]
    return whole | {"mistake": mistakes[0]} if mistakes else whole


TRIAL_RANKS = 64
"""Up to this many ranks and elements everything takes a few minutes at most: no estimate is needed."""

_TIME_EXPONENT = 2.3
_MEMORY_EXPONENT = 2.0
"""How time and memory of one rank count grow with it: from 64 to 256 ranks the time by exponents of 1.2 to 2.4, the
all-to-alls' being the steepest and most of the whole, the memory by 1 to 2. With the number of elements both grow less
than linearly."""

_PROGRAM_BYTES = 4e6  # of the verifier itself, whatever it verifies


@dataclass(frozen=True)
class Cost:
    """What is expected, to within a small factor.

    seconds       of all, as many algorithms at a time as there are cores
    memory_bytes  at the largest rank count, with the most demanding algorithm on each core
    most_ranks    the largest last rank count with which both stay within the limits; None where not even the first does
    """

    seconds: float
    memory_bytes: float
    most_ranks: int | None


def estimate(
    programs: Path, names: list[str], own: Catalogue, ranks: Range, counts: Range, seconds: float, memory_bytes: float
) -> Cost:
    """The cost of `verify_algorithms`, by measuring each of `names` at TRIAL_RANKS ranks and elements or fewer.

    seconds, memory_bytes  limits, for `most_ranks`
    """
    first, last = ranks
    trial_ranks, trial_count = min(TRIAL_RANKS, last), min(TRIAL_RANKS, counts[1])
    growth = max(1.0, counts[1] / max(1, trial_count))
    with on_every_core() as pool:
        trials = list(pool.map(lambda name: _trial(programs, name, trial_ranks, trial_count), names))
    every = np.arange(first, last + 1)
    relative = every / trial_ranks
    time = np.zeros(len(every))
    memory = np.zeros(len(every))
    for name, (trial_seconds, trial_bytes) in zip(names, trials, strict=True):
        admitted = _admitted(own, name, every)
        time += admitted * trial_seconds * growth * relative**_TIME_EXPONENT
        memory = np.maximum(memory, admitted * trial_bytes * growth * relative**_MEMORY_EXPONENT)
    elapsed = np.cumsum(time) / usable_cores()
    held = np.maximum.accumulate(memory) * min(usable_cores(), len(names))
    fitting = np.flatnonzero((elapsed <= seconds) & (held <= memory_bytes))
    return Cost(float(elapsed[-1]), float(held[-1]), int(every[fitting[-1]]) if len(fitting) else None)


def available_memory() -> float:
    """Bytes that this computer can give without swapping."""
    return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))


def _trial(programs: Path, name: str, ranks: int, count: int) -> tuple[float, float]:
    """Processor seconds and bytes of memory, above what the program itself takes."""
    words = [str(programs / "timpani-verify"), "check", str(ranks), str(ranks), "0", str(count), name]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0  # waited for above
    return usage.ru_utime + usage.ru_stime, max(0.0, usage.ru_maxrss * 1024 - _PROGRAM_BYTES)


def _admitted(own: Catalogue, name: str, ranks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """At which rank counts an algorithm is verified."""
    collective, _, algorithm = name.partition("/")
    restrictions = next(info.restrictions for info in own.algorithms[collective] if info.name == algorithm)
    admitted = np.ones(len(ranks), dtype=np.bool_)
    if restrictions.power_of_two:
        admitted &= (ranks & (ranks - 1)) == 0
    if restrictions.even:
        admitted &= ranks % 2 == 0
    return admitted
