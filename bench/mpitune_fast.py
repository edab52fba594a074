"""Intel's tuner, `mpitune_fast` of impi-devel, versus Timpani, on one machine.

Its result is a binary table, which I_MPI_TUNING_BIN names, so its rules can't be counted. `timpani compare` compares
the library with the table and without it, in separate launches. Nothing is kept.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.common.command import TIMPANI, timpani
from bench.least_mean import tune_and_print
from timpani.libraries.find import find_mpis
from timpani.native.mpi import Mpi

COLLECTIVES = ("bcast", "reduce", "allreduce")
"""Those that it tunes where nobody names others, but for the barrier, which has no size."""

SIZES = "4:1M*4"
RANKS = 2
LAUNCHES = 20


def run() -> None:
    mpi = next((each for each in find_mpis() if each.kind == "intel"), None)
    if mpi is None:
        print("no Intel MPI is found: put the bin of impi-devel on PATH")
        return
    with tempfile.TemporaryDirectory(prefix="mpitune-fast-") as name:
        folder = Path(name)
        print(f"{mpi}, {RANKS} ranks, {', '.join(COLLECTIVES)}, sizes {SIZES}")
        tune_and_print(mpi, COLLECTIVES, SIZES, folder / "ours")
        table, seconds = _tuned(mpi, folder / "intel")
        print(f"mpitune_fast: {seconds:.0f} s; {table.stat().st_size} B of table, number of rules unknown")
        asked = ("--algorithms", "default", "--sizes", SIZES, "--launches", str(LAUNCHES))
        for mpirun, into in ((mpi.mpirun, "without"), (_with_table(mpi, table, folder / "switched"), "with")):
            timpani("run", *COLLECTIVES, *asked, "--mpi", str(mpirun), "-o", str(folder / into))
        _compared(folder / "without", folder / "with")


def _tuned(mpi: Mpi, folder: Path) -> tuple[Path, float]:
    """The table that Intel's tuner writes, and its seconds."""
    folder.mkdir()
    root = mpi.mpirun.parent
    here = ("-hosts", "127.0.0.1", "-n", "1", "-ppn", str(RANKS))
    libraries = f"{root.parent / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    environment = {**os.environ, "I_MPI_ROOT": str(root.parent), "LD_LIBRARY_PATH": libraries}
    environment["PATH"] = f"{root}:{os.environ['PATH']}"
    began = time.perf_counter()
    done = subprocess.run(
        [root / "mpitune_fast", *here, "-c", ",".join(COLLECTIVES), "-d", folder],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    found = sorted(folder.glob("cluster_merged_*.dat"))
    if not found:
        sys.exit(f"mpitune_fast wrote no table:\n{done.stdout}{done.stderr}")
    return found[-1], seconds


def _with_table(mpi: Mpi, table: Path, folder: Path) -> Path:
    """A launcher that switches the table on, among links to the library: launches drop what a user sets."""
    root = mpi.mpirun.parent.parent
    (folder / "bin").mkdir(parents=True)
    for each in root.iterdir():
        if each.name != "bin":
            (folder / each.name).symlink_to(each)
    for each in (root / "bin").iterdir():
        if each.name != mpi.mpirun.name:
            (folder / "bin" / each.name).symlink_to(each)
    launcher = folder / "bin" / mpi.mpirun.name
    launcher.write_text(f'#!/bin/sh\nexport I_MPI_TUNING_BIN="{table}"\nexec "{mpi.mpirun}" "$@"\n')
    launcher.chmod(0o755)
    return launcher


def _compared(without: Path, switched: Path) -> None:
    done = subprocess.run(
        [TIMPANI, "compare", without, switched, "--format", "json"], capture_output=True, text=True, check=False
    )
    found = json.loads(done.stdout)
    counts = ", ".join(f"{found[name]} {name.replace('_', ' ')}" for name in ("faster", "slower", "undecided"))
    print(f"  with its table: of {len(found['cells'])} cells {counts}, {found['equivalent']} within 5 %")
    for cell in sorted(found["cells"], key=lambda cell: cell["ratio"]):
        if cell["standing"] in ("faster", "slower"):
            bounds = f"{cell['ratio_low']:.2f} to {cell['ratio_high']:.2f}"
            where = f"{cell['collective']} {cell['message_bytes']} B"
            print(f"  {where}: {cell['standing']}, {cell['ratio']:.2f} ({bounds})")
