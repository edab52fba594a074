"""Which rules are best: by the lowest mean of three OSU runs, by PICO's lowest median, or Timpani's? On one machine.

All are confirmed in the same way. PICO is included if the environment variable PICO names a checkout of it
(`bench/common/pico.py`).

The first is the procedure of Open MPI's tuner, github.com/open-mpi/ompi-collectives-tuning (coltune_script.py and
coltune_analyze.py of 2024). It forces each algorithm in three runs of an OSU benchmark. At each size it chooses the
algorithm with the lowest mean of the three averages, without the default. The file has a line for each change of the
choice, with OSU's size as the limit. Here `--method osu` replaces OSU's program, with one start for each run.

`timpani confirm` then compares each table with the default.
"""

import os
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl

from bench.common.command import timpani
from bench.common.pico import least_medians
from bench.common.turns import open_mpi
from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.run.session import Session
from timpani.cli.terminal.progress import progress
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.openmpi.classic_rules import TunedRules
from timpani.libraries.openmpi.tuned import TUNED
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi
from timpani.study.selection import Call, Rule, SelectionTable, Span
from timpani.tune.confirmation import ConfirmedPoint, confirm, mean_regret
from timpani.tune.confirmation_study import cells_to_prove, confirmation_study
from timpani.tune.from_campaign import load_together
from timpani.tune.table_file import TABLE_FILE, read_table
from timpani.tune.tuned_files import SWITCH_ON

COLLECTIVES = ("bcast", "allreduce", "reduce", "allgather", "alltoall")
SIZES = "4:1M*4"
RANKS = 2
RUNS = 3
LAUNCHES = 10

Best = Mapping[str, list[tuple[int, str]]]
"""For each collective the sizes, ascending, with the algorithm of the least mean."""


def run() -> None:
    folder = Path(tempfile.mkdtemp(prefix="least-mean-"))
    mpi = open_mpi()
    catalogue = LIBRARIES[mpi.kind].algorithms.catalogue(mpi)
    print(f"{mpi}, {RANKS} ranks, {len(COLLECTIVES)} collectives, sizes {SIZES}; kept in {folder}")

    made_from = tune_and_print(mpi, COLLECTIVES, SIZES, folder / "ours")

    began = time.perf_counter()
    best = {name: _least_means(name, catalogue, mpi, folder / "osu" / name) for name in COLLECTIVES}
    _confirm_and_print(
        "least mean of three runs", time.perf_counter() - began, best, made_from, folder / "least-mean", mpi
    )

    if pico := os.environ.get("PICO"):
        began = time.perf_counter()
        sizes = {name: [size for size, _ in of] for name, of in best.items()}
        best = least_medians(Path(pico), mpi, catalogue, sizes, RANKS)
        _confirm_and_print("PICO's least median", time.perf_counter() - began, best, made_from, folder / "pico", mpi)


def tune_and_print(mpi: Mpi, collectives: Sequence[str], sizes: str, folder: Path) -> Campaign:
    """Tune by the command, and print what it confirmed; returns what the rules were made from."""
    seconds = timpani("tune", *collectives, "--sizes", sizes, "--mpi", str(mpi.mpirun), "-o", str(folder))
    table = read_table(folder / TABLE_FILE)
    made_from = load_together([Path(each) for each in table.campaigns])
    confirmed = confirm(table, made_from, load(folder / f"confirmation-of-{len(table.rules)}"))
    _print_confirmed("timpani tune, with its confirmation", seconds, len(table.rules), confirmed)
    return made_from


def _confirm_and_print(what: str, seconds: float, best: Best, made_from: Campaign, folder: Path, mpi: Mpi) -> None:
    """The rules that say `best`, tried; `seconds` is what it took to find it."""
    catalogue = LIBRARIES[mpi.kind].algorithms.catalogue(mpi)
    text = _rules_file(best, catalogue)
    folder.mkdir(parents=True)
    (folder / TunedRules.name).write_text(text)
    (folder / SWITCH_ON).touch()
    table = _as_table(text, catalogue, best, made_from)
    lines = sum(algorithm != before for of in best.values() for (_, before), (_, algorithm) in pairwise([(0, ""), *of]))
    _print_confirmed(what, seconds, lines, _confirmed(table, made_from, folder, mpi))


def _least_means(collective: str, catalogue: Catalogue, mpi: Mpi, folder: Path) -> list[tuple[int, str]]:
    """At each size the algorithm with the least mean of the OSU averages of RUNS starts, in which it runs alone."""
    found = []
    for info in catalogue.algorithms[collective]:
        into = folder / info.name
        asked = ("--sizes", SIZES, "--method", "osu", "--launches", str(RUNS), "--mpi", str(mpi.mpirun))
        timpani("run", collective, "--algorithms", info.name, *asked, "-o", str(into))
        means = load(into).results.filter(pl.col("error").is_null())
        found.append(means.group_by("message_bytes", "algorithm").agg(pl.mean("osu_avg_us")))
    least = pl.concat(found).sort("osu_avg_us").group_by("message_bytes", maintain_order=True).first()
    return list(least.select("message_bytes", "algorithm").sort("message_bytes").iter_rows())


def _rules_file(best: Best, catalogue: Catalogue) -> str:
    """As that tuner writes it: the library's choice below the first size, no guard for other numbers of ranks."""
    lines = [str(len(best))]
    for collective, sizes in best.items():
        ids = {"default": "0"} | {info.name: info.value for info in catalogue.algorithms[collective]}
        rules = ["0 0 0 0"]
        for (_, before), (size, algorithm) in pairwise([(0, ""), *sizes]):
            rules += [f"{size} {ids[algorithm]} 0 0"] if algorithm != before else []
        lines += [str(TUNED[collective].id), "1", str(RANKS), str(len(rules)), *rules]
    return "\n".join([*lines, ""])


def _as_table(text: str, catalogue: Catalogue, best: Best, made_from: Campaign) -> SelectionTable:
    """What the library does by the file at RANKS ranks here, in sizes as we count them."""
    choice = TunedRules().read(text, catalogue)
    ranks, mpi = Span(RANKS, RANKS), made_from.header.mpi
    rules: list[Rule] = []
    for collective, sizes in best.items():
        limits = sorted({1, *(part for size, _ in sizes for part in (size, -(-size // RANKS)))})
        lasts = [*(limit - 1 for limit in limits[1:]), None]
        for first, last in zip(limits, lasts, strict=True):
            algorithm = choice.decide(Call(collective, RANKS, 1, RANKS, first))
            before = (rules[-1].collective, rules[-1].algorithm, rules[-1].sizes.last) if rules else None
            if before == (collective, algorithm, first - 1):
                rules[-1] = replace(rules[-1], sizes=Span(rules[-1].sizes.first, last))
            elif algorithm:
                rules.append(Rule(collective, algorithm, ranks, Span(1, 1), ranks, Span(first, last)))
    return SelectionTable(mpi.kind, mpi.version, tuple(rules))


def _confirmed(table: SelectionTable, made_from: Campaign, folder: Path, mpi: Mpi) -> list[ConfirmedPoint]:
    study = confirmation_study(table, made_from, folder, LAUNCHES)
    into = folder / "confirmation"
    Session.prepare(study, str(mpi.mpirun), True).complete(into, progress, cells_to_prove(table, made_from))
    return confirm(table, made_from, load(into))


def _print_confirmed(what: str, seconds: float, rules: int, confirmed: list[ConfirmedPoint]) -> None:
    """What was confirmed of a table: points gained and lost, gains, and regret at test sizes."""
    ruled = [each for each in confirmed if each.algorithm]
    standings = Counter(each.standing for each in ruled)
    print(
        f"{what}: {seconds:.0f} s; {rules} rules; of {len(ruled)} points with a rule {standings['gained']} gained, "
        f"{standings['kept']} not shown to differ, {standings['lost']} lost"
    )
    gains = [each.gain.ratio for each in ruled if each.gain]
    if gains:
        print(f"  default's time / the choice's: {min(gains):.2f} to {max(gains):.2f}, median {np.median(gains):.2f}")
    if regret := mean_regret(confirmed):
        print("  mean regret at test sizes: {:.1%} ({:.1%} to {:.1%})".format(*regret))
    for each in ruled:
        if each.standing == "lost" and each.gain:
            where = f"{each.call.collective} {each.call.message_bytes} B, {each.algorithm}"
            print(f"  lost: {where}: {each.gain.ratio:.2f} ({each.gain.low or 0:.2f} to {each.gain.high or 0:.2f})")
