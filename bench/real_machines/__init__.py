"""What public results of four supercomputers show of Timpani's claims; each part prints its figures and their limits.

`python -m bench real_machines [--archives DIR] [--table FILE] [--part NAME]`: DIR is `results/` of a checkout of
github.com/HLC-Lab/pico (MIT license, July 2025), whole or with the archives below 4 MiB. FILE has a row for each of its
cells (cells.csv.gz). A part is a module of this folder with a function `measure`, which gets DIR and a folder with the
campaigns that `timpani import pico` makes; or a function of `predictions`, which gets FILE. It returns whether all
of its limits hold.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.real_machines import archive_import, launch_interval, other_jobs, predictions

PARTS: dict[str, Callable[[Path, Path], bool]] = {
    "import": archive_import.measure,
    "launch_interval": launch_interval.measure,
    "other_jobs": other_jobs.measure,
}
"""In their order: the first makes the campaigns."""

OF_TABLE: dict[str, Callable[[Path], bool]] = {
    "predicted_times": predictions.measure_times,
    "choices": predictions.measure_choices,
    "regret": predictions.measure_regret,
}


def run(archives: str = "", table: str = "", part: str = "") -> None:
    if not archives and not table:
        print("Not measured: add --archives DIR, the results of HLC-Lab/pico, or --table FILE, its cells.")
        return
    if part and part not in (*PARTS, *OF_TABLE):
        sys.exit(f"No part {part!r}: {', '.join((*PARTS, *OF_TABLE))}.")
    missed = []
    if archives and part not in OF_TABLE:
        with tempfile.TemporaryDirectory() as folder:
            for name, measure in PARTS.items():
                if name in ("import", part or name):  # the first part makes the campaigns of all
                    print(f"-- {name}", flush=True)
                    missed += [] if measure(Path(archives), Path(folder)) else [name]
    for name, of_table in OF_TABLE.items():
        if table and name == (part or name):
            print(f"-- {name}", flush=True)
            missed += [] if of_table(Path(table)) else [name]
    if missed:
        sys.exit(f"a limit was missed: {', '.join(missed)}")
