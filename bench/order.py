"""In which order do five libraries add by default? A row for each collective and size, and what results depend on.

`--libraries` names others, `--ranks` other rank counts in addition to 8. The last lines say how long 8 ranks took.
"""

import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

from timpani.campaign.run.session import Session
from timpani.native.build import build
from timpani.order.commands import order_study, read_orders
from timpani.order.naming import Schedules
from timpani.order.reading import Reading
from timpani.order.reproducibility import Reproducibility
from timpani.study.cell import Cell
from timpani.study.sizes import show_size
from timpani.study.words import counted

VERSIONS = Path("build/mpi-versions")
NEWEST = ("openmpi-5.0.11/bin/mpirun", "mpich-5.0.2/bin/mpiexec", "intel-2021.19.0/bin/mpiexec.hydra")
LIBRARIES = ",".join(("openmpi", "mpich", *(str(VERSIONS / each) for each in NEWEST)))
COLLECTIVES = ("allreduce", "reduce", "reduce_scatter", "scan")
SIZES = "8,4Ki,256Ki"
MAX_SECONDS = 60
MOST_RANKS_AGAIN = 8


def run(libraries: str = LIBRARIES, ranks: str = "2,3,4,16") -> None:
    for library in libraries.split(","):
        sessions = [_session(library, each) for each in (ranks, "8")]
        build(sessions[0].plan.mpi)
        readings = read_orders(sessions[0], print, _is_read_again)
        began = time.monotonic()
        readings += read_orders(sessions[1], print)
        seconds = time.monotonic() - began
        title = sessions[0].plan.mpi.title
        schedules = Schedules.of_programs(sessions[0].plan.mpi)
        for (collective, size), same in groupby(sorted(readings, key=_point), key=_point):
            first = [each for each in same if each.launch == 1]
            print(f"| {title} | {collective} | {show_size(size)} | {_names(schedules, first)} |", flush=True)
        for collective in COLLECTIVES:
            facts = Reproducibility.of_readings([each for each in readings if each.cell.collective == collective])
            print(f"- {title}: {facts.text}", flush=True)
        print(f"{title}, 8 ranks: {seconds:.0f} s (at most {MAX_SECONDS})", flush=True)


def _session(library: str, ranks: str) -> Session:
    study = order_study(COLLECTIVES, {"algorithms": "default", "ranks": ranks, "sizes": SIZES})
    return Session.prepare(study, library, True)


def _is_read_again(cell: Cell) -> bool:
    """16 ranks are read once, at one root: where cores are few, each root would take a minute."""
    return cell.ranks <= MOST_RANKS_AGAIN


def _point(reading: Reading) -> tuple[str, int]:
    return reading.cell.collective, reading.cell.message_bytes


def _names(schedules: Schedules, readings: Sequence[Reading]) -> str:
    """The schedule that adds so on most rank counts, then those for the rest; each with how many others do, too."""
    ordered = sorted(readings, key=lambda each: each.cell.ranks)
    names = {each.cell.ranks: {name.plain for name in schedules.names(each)} for each in ordered}
    found = []
    while names:
        best = max(sorted(set.union(*names.values())), key=lambda name: len(_covered(name, names)), default="none")
        covered = _covered(best, names) or list(names)
        others = len(set.intersection(*(names[ranks] for ranks in covered))) - 1
        more = f" and {counted(others, 'other')}" if others > 0 else ""
        found.append(f"{', '.join(map(str, covered))}: {best}{more}")
        names = {ranks: each for ranks, each in names.items() if ranks not in covered}
    return "; ".join(found)


def _covered(name: str, names: Mapping[int, set[str]]) -> list[int]:
    return [ranks for ranks, each in names.items() if name in each]
