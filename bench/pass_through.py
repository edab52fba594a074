"""What a call costs that libtimpani.so hands on to the library: nanoseconds, and callgrind's instructions."""

import re
import shutil
import tempfile
from pathlib import Path

from bench.common.command import output
from bench.overhead import build_benchmarks
from timpani.libraries.find import find_mpis

MAX_NS = 30.0
CALLS = 2_000_000
COUNTED = (10_000, 110_000)  # calls under callgrind: their difference leaves out starting and ending
RULES = "timpani-rules 1\nbcast ranks=1000000.. linear\nend 1\n"  # none of them matches here


def run() -> None:
    for mpi in find_mpis():
        with tempfile.TemporaryDirectory() as folder:
            measure(str(mpi), build_benchmarks(mpi), Path(folder))


def measure(library: str, programs: Path, folder: Path) -> None:
    (folder / "rules").write_text(RULES)
    beneath = {"LD_PRELOAD": str(programs / "libtimpani.so")}
    cases = {
        "switched off": {**beneath, "TIMPANI_OFF": "1"},
        "no rule matches": {**beneath, "TIMPANI_RULES": str(folder / "rules")},
    }
    program = str(programs / "timpani-bench-pass-through")
    alone, alone_counted = nanoseconds(program, {}), instructions(program, {}, folder)
    for case, environment in cases.items():
        cost = nanoseconds(program, environment) - alone
        counted = instructions(program, environment, folder)
        more = "" if counted is None or alone_counted is None else f", {counted - alone_counted:.0f} instructions"
        verdict = "ok" if cost <= MAX_NS else "TOO SLOW"
        print(f"{library}, {case}: {cost:.1f} ns a call{more} (at most {MAX_NS:.0f} ns): {verdict}")


def nanoseconds(program: str, environment: dict[str, str]) -> float:
    return min(float(output([program, str(CALLS)], environment)) for _ in range(3))


def instructions(program: str, environment: dict[str, str], folder: Path) -> float | None:
    """Instructions of one call, those of MPI among them; None without valgrind."""
    if shutil.which("valgrind") is None:
        return None
    file = folder / "callgrind"
    counts = []
    for calls in COUNTED:
        output(["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}", program, str(calls)], environment)
        found = re.search(r"^(?:summary|totals): (\d+)", file.read_text(), re.MULTILINE)
        assert found is not None
        counts.append(int(found[1]))
    return (counts[1] - counts[0]) / (COUNTED[1] - COUNTED[0])
