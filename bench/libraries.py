"""What works with each MPI library that PyPI has: list, run everything, prove, tuning files, preload?

Each version is installed into a temporary folder, alone, and checked by the product as its users run it and by a
test of its tuning files. The answers stay in `build/libraries`, one file a version: a version with a file is not
checked again. `build/libraries/table.md` has a row for each; docs/benchmarks/libraries.md sums them up. The oldest and
the newest of each family come first. TIMPANI_BENCH_LIBRARIES=mpich-4.2.3,openmpi-5.0.9 checks these only.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from bench.common.command import TIMPANI
from timpani.campaign.folder.load import load
from timpani.errors import shortened
from timpani.libraries.find import choose_mpi
from timpani.libraries.library import LaunchRequest
from timpani.libraries.registry import LIBRARIES
from timpani.machine.launchers import command
from timpani.study.operations import COLLECTIVES

ROOT = Path(__file__).parents[1]
ANSWERS = ROOT / "build" / "libraries"
PAGE = ANSWERS / "table.md"
RANKS = (2, 4)
MESSAGE_BYTES = 64
TUNED = ("bcast", "allreduce", "reduce")
TUNING_LAUNCHES, TUNING_BUDGET = 12, "90s"
_LONGEST_REASON = 60  # characters of it in the table
_MOST_SECONDS = 3600  # for one command: on a busy machine the cells of Intel MPI take most of an hour

_RULES = "timpani-rules 1\nbcast pipeline:segment_bytes=64\nend 1\n"
_PROGRAM = """
#include <mpi.h>
int main(int argc, char** argv) {
    int value = 0, rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) value = 7;
    MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return value == 7 ? 0 : 1;
}
"""


@dataclass(frozen=True)
class Family:
    """The packages of one library, and the test that shows whether it follows the files that `timpani tune` writes."""

    kind: str
    packages: tuple[str, ...]
    versions: tuple[str, ...]
    test: str

    def in_order(self) -> tuple[str, ...]:
        """The oldest version, the newest, then the others from the newest on."""
        oldest, *middle, newest = self.versions
        return (oldest, newest, *reversed(middle))


FAMILIES = (
    Family(
        "openmpi",
        ("openmpi",),
        ("4.1.7", "4.1.8", "5.0.8", "5.0.9", "5.0.10", "5.0.11"),
        "tests/libraries/test_tuned_rules_run.py::test_rules_hold_where_the_library_counts_no_messages",
    ),
    Family(
        "mpich",
        ("mpich",),
        ("3.4.3", "4.0.3", "4.1.3", "4.2.3", "4.3.1", "4.3.2", "5.0.0", "5.0.1", "5.0.2"),
        "tests/libraries/test_mpich_tree.py::test_the_library_follows_a_written_file_to_the_byte",
    ),
    Family(
        "intel",
        ("impi-rt", "impi-devel"),
        (
            *("2021.1.1", "2021.2.0", "2021.3.1", "2021.4.0", "2021.5.1", "2021.6.0", "2021.7.1", "2021.8.0"),
            *("2021.9.0", "2021.10.0", "2021.11.0", "2021.12.1", "2021.13.1", "2021.14.2", "2021.15.0"),
            *("2021.16.2", "2021.17.2", "2021.18.1", "2021.19.0"),
        ),
        "tests/libraries/test_intel.py::test_the_library_takes_what_is_written",
    ),
)
"""What `pip index versions` listed on 25 November 2026; of Intel MPI the last patch of each release."""


@dataclass(frozen=True)
class Answer:
    """What was seen with one version.

    found       its name and version as Timpani reports them, or why it can't be used
    algorithms  how many of the library's are offered, over all collectives
    measured    cells with a result, of how many
    failed      by collective and algorithm, the first line of what went wrong
    proven      cells whose messages were counted; None: the library counts none
    files       whether it follows tuning files: `followed`, `none` where Timpani writes none, or what went wrong
    preload     whether a preloaded library replaced a broadcast: `replaced`, or what went wrong
    tuned       how many rules `timpani tune` wrote and `timpani confirm` kept, or what went wrong
    seconds     of everything, the build included
    """

    found: str
    algorithms: int = 0
    measured: int = 0
    cells: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    proven: int | None = None
    files: str = ""
    preload: str = ""
    tuned: str = ""
    seconds: float = 0.0


def run() -> None:
    """Check what was not checked, one library at a time, and write the page."""
    wanted = set(filter(None, os.environ.get("TIMPANI_BENCH_LIBRARIES", "").split(",")))
    ANSWERS.mkdir(parents=True, exist_ok=True)
    for family, version in _versions():
        name = f"{family.kind}-{version}"
        path = ANSWERS / f"{name}.json"
        if path.exists() or (wanted and name not in wanted):
            continue
        print(f"{name}: checking", flush=True)
        began = time.monotonic()
        with tempfile.TemporaryDirectory(prefix=f"timpani-{name}-") as folder:
            answer = _check(family, version, Path(folder))
        answer = replace(answer, seconds=round(time.monotonic() - began))
        path.write_text(json.dumps(asdict(answer), indent=2))
        print(f"{name}: {' | '.join(_row(answer))}", flush=True)
        write_page()
    write_page()


def _versions() -> Iterator[tuple[Family, str]]:
    orders = ([(family, version) for version in family.in_order()] for family in FAMILIES)
    for turn in zip_longest(*orders):
        yield from filter(None, turn)


def _check(family: Family, version: str, folder: Path) -> Answer:
    prefix = folder / "library"
    packages = [f"{package}=={version}" for package in family.packages]
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--ignore-installed", "--prefix")
    installed = _run(sys.executable, "-m", "pip", "install", *options, str(prefix), *packages)
    if installed.returncode:
        return Answer(found=f"not installed: {_last_line(installed)}")
    listed = _run(TIMPANI, "list", "algorithms", "--mpi", str(prefix), "--format", "json")
    if listed.returncode:
        return Answer(found=f"refused: {_last_line(listed)}")
    offered = [row for row in json.loads(listed.stdout) if row["algorithm"].startswith(f"{family.kind}/")]
    measured = _measure(prefix, folder)
    return Answer(
        found=f"{LIBRARIES[family.kind].name} {version}",
        algorithms=len(offered),
        **measured,
        files=_files(family, version, prefix),
        preload=_preload(prefix, folder),
        tuned=_tuned(prefix, folder),
    )


def _measure(prefix: Path, folder: Path) -> dict[str, Any]:
    campaign = folder / "campaign"
    ranks = ",".join(map(str, RANKS))
    quick = ("--sizes", str(MESSAGE_BYTES), "--ranks", ranks, "--launches", "1", "--slot", "2ms", "--oversubscribe")
    asked = (*COLLECTIVES, "--algorithms", "all", "--mpi", str(prefix), *quick, "--prove", "-o", str(campaign))
    done = _run(TIMPANI, "run", *asked)
    if not (campaign / "results.jsonl").exists():
        return {"failed": {"all": _last_line(done)}}
    read = load(campaign)
    failed = {
        f"{row['collective']} {row['algorithm']}, {row['ranks']} ranks": row["error"].splitlines()[0]
        for row in read.results.iter_rows(named=True)
        if row["error"] is not None
    }
    return {
        "measured": read.results["error"].null_count(),
        "cells": len(read.results),
        "failed": failed,
        "proven": None if "can't count messages" in done.stderr + done.stdout else len(read.proofs),
    }


def _files(family: Family, version: str, prefix: Path) -> str:
    if not any(each.is_read_by(choose_mpi(str(prefix))) for each in LIBRARIES[family.kind].files.tuning):
        return "none"
    test = family.test if family.kind == "intel" else f"{family.test}[{family.kind}-{version}]"
    done = _run(
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test),
        PATH=f"{prefix / 'bin'}{os.pathsep}{os.environ['PATH']}",
        TIMPANI_TESTS_INTEL_MPI=str(prefix),
    )
    if done.returncode == 0:
        return "followed" if " passed" in done.stdout else "not tested here"
    errors = [line for line in done.stdout.splitlines() if line.startswith("E ")]
    return f"not followed: {errors[0].removeprefix('E').strip() if errors else _last_line(done)}"


def _preload(prefix: Path, folder: Path) -> str:
    mpi = choose_mpi(str(prefix))
    (folder / "rules").write_text(_RULES)
    (folder / "bcast.cpp").write_text(_PROGRAM)
    given = dict(mpi.environment)
    compiled = _run(str(mpi.cxx), str(folder / "bcast.cpp"), "-o", str(folder / "bcast"), **given)
    if compiled.returncode:
        return f"not compiled: {_last_line(compiled)}"
    request = LaunchRequest(2, "core", False, (), {}, (str(folder / "bcast"),))
    started = command(mpi, request)
    profile = ("profile", "--rules", str(folder / "rules"), "-o", str(folder / "profile"), "--")
    done = _run(TIMPANI, *profile, *started.argv, **{**given, **started.environment})
    texts = [path.read_text() for path in (folder / "profile").rglob("*") if path.is_file()]
    if done.returncode == 0 and any("pipeline" in text for text in texts):
        return "replaced"
    return f"not replaced: {_last_line(done)}"


def _tuned(prefix: Path, folder: Path) -> str:
    """Tune a few collectives on 2 ranks, and confirm the rules."""
    tuned = folder / "tuned"
    what = ("--ranks", "2", "--sizes", "8,64Ki", "--launches", str(TUNING_LAUNCHES), "--budget", TUNING_BUDGET)
    done = _run(TIMPANI, "tune", *TUNED, "--mpi", str(prefix), *what, "-o", str(tuned))
    if done.returncode:
        return f"not tuned: {_last_line(done)}"
    written = _rules(tuned)
    if not written:
        return "no rule"
    done = _run(TIMPANI, "confirm", str(tuned), "--mpi", str(prefix), "--budget", TUNING_BUDGET)
    return f"not confirmed: {_last_line(done)}" if done.returncode else f"{_rules(tuned)} of {written} rules kept"


def _rules(tuned: Path) -> int:
    return len(json.loads((tuned / "table.json").read_text())["rules"])


def _run(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            words,
            cwd=ROOT,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=_MOST_SECONDS,
            env={**os.environ, **environment},
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, "", f"no end within {_MOST_SECONDS} s")


def _last_line(done: "subprocess.CompletedProcess[str]") -> str:
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return lines[-1] if lines else f"status {done.returncode}"


_HEADINGS = (
    *("library", "its algorithms", "cells measured", "what failed", "messages counted", "tuning files", "preload"),
    *("tuned, confirmed", "seconds"),
)


def _row(answer: Answer) -> tuple[str, ...]:
    return (
        answer.found,
        str(answer.algorithms),
        f"{answer.measured} of {answer.cells}",
        _failures(answer),
        "no counter" if answer.proven is None else f"{answer.proven} cells",
        answer.files,
        answer.preload,
        answer.tuned or "not tried",
        str(answer.seconds),
    )


def _failures(answer: Answer) -> str:
    """What failed, and the first reason."""
    if not answer.failed:
        return "nothing"
    reason = shortened(next(iter(answer.failed.values())), _LONGEST_REASON)
    return f"{len(answer.failed)} cells: {'; '.join(answer.failed)} ({reason})"


def write_page() -> None:
    """Write the table of all answers."""
    answers = (Answer(**json.loads(path.read_text())) for path in ANSWERS.glob("*.json"))
    rows = {row[0]: row for row in map(_row, answers)}
    names = [f"{LIBRARIES[family.kind].name} {version}" for family in FAMILIES for version in family.versions]
    ordered = sorted(rows, key=lambda name: names.index(name) if name in names else len(names))
    lines = (_HEADINGS, ("---",) * len(_HEADINGS), *(rows[name] for name in ordered))
    PAGE.write_text("".join(f"| {' | '.join(cells)} |\n" for cells in lines))
