"""What PICO, github.com/HLC-Lab/pico, says of a library's algorithms: at each size the one with the least median.

PICO starts its program once for each collective, algorithm and size, and forces the algorithm by a rules file for all
ranks and sizes. It leaves out what its configuration calls suboptimal or prone to crash. Its own collectives, which the
library lacks, are left out here, but for one, which is measured and not taken.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from timpani.libraries.catalogue import Catalogue
from timpani.native.mpi import Mpi

_ELEMENT_BYTES = 4  # of int32
_IN_BLOCKS = ("allgather", "alltoall")  # it counts the elements of all ranks' blocks
_VERSION = re.compile(r"5\.0\.6|4\.1\.5")
_CXX = re.compile(r"mpi(cxx|c\+\+|CC)")
_SETTINGS = {"LIBBINE_VERSION": "1.0.0", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
_TIMES = re.compile(r"(?P<elements>\d+)_(?P<algorithm>\w+)_int32\.csv")


def least_medians(
    pico: Path, mpi: Mpi, catalogue: Catalogue, sizes: Mapping[str, Sequence[int]], ranks: int
) -> dict[str, list[tuple[int, str]]]:
    """For each collective the sizes in bytes, ascending, with the algorithm of the least median, or `default`.

    pico  a checkout of its main branch of 2025; changed here, since its script looks for another program than it
          builds, and its settings name a version of Open MPI
    """
    (pico / "bin").mkdir(exist_ok=True)
    (pico / "bin/bench").unlink(missing_ok=True)
    (pico / "bin/bench").symlink_to("pico_core")
    settings = pico / "config/environments/local.sh"
    settings.write_text(_VERSION.sub("5.0.6" if mpi.numbers >= (5,) else "4.1.5", settings.read_text()))
    return {
        collective: sorted(_least_medians_of(pico, mpi, catalogue, collective, of, ranks))
        for collective, of in sizes.items()
    }


def _least_medians_of(
    pico: Path, mpi: Mpi, catalogue: Catalogue, collective: str, sizes: Sequence[int], ranks: int
) -> Iterator[tuple[int, str]]:
    of_all_ranks = ranks if collective in _IN_BLOCKS else 1
    elements = {size * of_all_ranks // _ELEMENT_BYTES: size for size in sizes}
    medians: dict[int, list[tuple[float, str]]] = {}
    known = json.loads((pico / "config/algorithm_config.json").read_text())["collective"][collective.upper()]
    names = {"0": "default"} | {info.value: info.name for info in catalogue.algorithms[collective]}
    for file in _measured(pico, mpi, collective, elements, ranks).rglob("*_int32.csv"):
        match = _TIMES.fullmatch(file.name)
        if match and match["algorithm"].endswith("_ompi"):
            name = names[str(known[match["algorithm"]]["dynamic_rule"])]
            times = np.loadtxt(file, skiprows=1)
            medians.setdefault(elements[int(match["elements"])], []).append((float(np.median(times)), name))
    for size, of in medians.items():
        yield size, min(of)[1]


def _measured(pico: Path, mpi: Mpi, collective: str, elements: Iterable[int], ranks: int) -> Path:
    """The folder of its files of times: in each a title, then nanoseconds of each call's slowest rank."""
    wanted = pico / "config/test" / f"{collective}.json"
    asked = json.loads(wanted.read_text())
    asked["tags"]["exclude"] = sorted({*asked["tags"]["exclude"], "bine"})
    wanted.write_text(json.dumps(asked))
    name = f"bench-{collective}-{os.getpid()}"
    with tempfile.TemporaryDirectory() as folder:
        for program, stands_for in (
            ("mpicc", mpi.cxx.with_name(_CXX.sub("mpicc", mpi.cxx.name))),
            ("mpiexec", mpi.mpirun),
        ):
            script = Path(folder) / program
            script.write_text(f'#!/bin/sh\nexec {shlex.quote(str(stands_for))} "$@"\n')
            script.chmod(0o755)
        environment = {**os.environ, **dict(mpi.environment), "PATH": f"{folder}:{os.environ['PATH']}"}
        done = subprocess.run(
            [
                *("scripts/submit_wrapper.sh", "--location", "local", "--nodes", str(ranks), "--ntasks-per-node", "1"),
                *("--collectives", collective, "--sizes", ",".join(map(str, elements)), "--segment-sizes", "0"),
                *("--compress", "no", "--output-dir", name),
            ],
            cwd=pico,
            env={**environment, **_SETTINGS},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        sys.exit(f"PICO failed:\n{done.stdout}{done.stderr}")
    return pico / "results/local" / name
