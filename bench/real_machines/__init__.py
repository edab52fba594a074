"""What public results of four supercomputers show of Timpani's claims; each part prints its figures and their limits.

`python -m bench real_machines --archives DIR [--part NAME]`: DIR is `results/` of a checkout of github.com/HLC-Lab/pico
(MIT license, July 2025), whole or with the archives below 4 MiB. A part is a module of this folder with a function
`measure`, which gets this folder and a folder with the campaigns that `timpani import pico` makes.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.real_machines import archive_import, launch_interval, other_jobs

PARTS: dict[str, Callable[[Path, Path], None]] = {
    "import": archive_import.measure,
    "launch_interval": launch_interval.measure,
    "other_jobs": other_jobs.measure,
}
"""In their order: the first makes the campaigns."""


def run(archives: str = "", part: str = "") -> None:
    if not archives:
        print("Not measured: add --archives DIR, the results of HLC-Lab/pico.")
        return
    if part and part not in PARTS:
        sys.exit(f"No part {part!r}: {', '.join(PARTS)}.")
    with tempfile.TemporaryDirectory() as folder:
        for name, measure in PARTS.items():
            if name in ("import", part or name):  # the first part makes the campaigns of all
                print(f"-- {name}", flush=True)
                measure(Path(archives), Path(folder))
