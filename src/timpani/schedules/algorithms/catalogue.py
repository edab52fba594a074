"""Timpani's own algorithms: the files of `native/algorithms`, as the verifier lists what they register."""

import json
import subprocess
from pathlib import Path

from timpani.errors import AlgorithmError
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameter, Restrictions, remember_names
from timpani.native.build import build_without_mpi
from timpani.native.crash import crash
from timpani.native.mpi import Mpi
from timpani.native_sources import ALGORITHMS
from timpani.study.cell import OWN
from timpani.version import __version__

_VERIFIER = "timpani-verify"
"""The program that lists and verifies."""

_MEND = f"mend the algorithms in the folder {ALGORITHMS}, or unset it"
_RENAME = f"give the one in the folder {ALGORITHMS} another name"


def own_catalogue(mpi: Mpi | None) -> Catalogue:
    """What the programs built for `mpi`, or without a library, can run."""
    return read_own_catalogue(build_without_mpi(mpi))


def read_own_catalogue(programs: Path) -> Catalogue:
    """What the native programs in the folder `programs` can run.

    AlgorithmError where two algorithms have one name, and where a user's algorithm ends the program.
    """
    answer = subprocess.run([programs / _VERIFIER, "list"], capture_output=True, text=True, check=False)
    if signal := crash(answer.returncode):
        raise AlgorithmError(f"{_VERIFIER} ended before it listed the algorithms: {signal}", _MEND)
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
