"""How true predictions are in a lab: costs from calls on two nodes, calls on four and eight nodes predicted.

The two nodes are of one switch, or on both sides of the uplinks, which are slower than nodes' links. All ranks share
this machine's cores, so links are slow: the largest broadcast takes one 21 ms, the middle one 2.6. The smallest passes
a link at once, without delay, where that was idle for long enough (`burst_bytes` of timpani.machine.lab).
"""

import json
import os
import tempfile
from pathlib import Path

import polars as pl

from bench import predict
from bench.common.command import timpani
from bench.common.prediction_error import predicted_rows, print_summaries
from timpani.campaign.folder.load import Campaign, load
from timpani.libraries.find import choose_mpi
from timpani.machine.lab.lab import Layout
from timpani.machine.lab.make import check_root, down, up
from timpani.native.build import build_without_mpi
from timpani.schedules.algorithms.simulation import Simulator
from timpani.schedules.predict.calibration import calibrate_from_calls
from timpani.schedules.predict.observed import observations

LAYOUT = Layout(nodes=8, cores=2, groups=2, link=100_000_000, uplink=50_000_000)
CALIBRATED = (
    (2, "core"),
    (2, "node"),
    (2, "category:1:1"),
    (4, "core"),
    (4, "category:1:2"),
    (4, "category:3:2"),
)
"""Rank counts and placements: one node, two of a switch, one of each; two ranks a node, by node and dealt out."""

PREDICTED = {
    "4 nodes": ((4, "node"), (4, "category:1:1"), (8, "category:1:2")),
    "8 nodes": ((8, "category:1:1"), (8, "category:3:1"), (16, "category:1:2")),
}
SIZES, BLOCKS = "4Ki,32Ki,256Ki", "1Ki,8Ki,32Ki"
OF_BLOCKS = ("gather", "allgather")
LAUNCHES, SLOT = 3, "30ms"
QUICK = ("bcast", "allreduce")
"""Of a quick look (TIMPANI_BENCH_QUICK=1), which is one launch."""


def run() -> None:
    check_root()
    with tempfile.TemporaryDirectory() as folder:
        print_accuracy(Path(folder))


def print_accuracy(folder: Path) -> None:
    """Measure in `folder` what isn't there yet, and print how true predictions are."""
    study = folder / "study.toml"
    study.write_text(_study(quick=bool(os.environ.get("TIMPANI_BENCH_QUICK"))))
    lab = up(LAYOUT)

    def measured(ranks: int, placement: str) -> Campaign:
        campaign = folder / f"{ranks}-{placement}"
        where = ("--ranks", str(ranks), "--placement", placement, "--on", f"lab:{lab.id}")
        seconds = timpani("run", str(study), *where, "-o", str(campaign))
        found = load(campaign)
        failed = found.results.filter(pl.col("error").is_not_null()).height
        print(f"{ranks} ranks by {placement}: {seconds:.0f} s, {failed} results failed", flush=True)
        return found

    try:
        campaigns = [measured(*where) for where in CALIBRATED]
        truth = {
            nodes: {where[1]: observations(measured(*where)) for where in those} for nodes, those in PREDICTED.items()
        }
    finally:
        down(lab)
    simulator = Simulator(build_without_mpi(choose_mpi(None)))
    known = [each for campaign in campaigns for each in observations(campaign)]

    bursts = campaigns[0].header.machine.bursts
    calibration = calibrate_from_calls(simulator, known, None, simulated=False, burst=bursts)
    print(f"{calibration}\n{calibration.costs}")
    rows = pl.concat([predicted_rows(simulator, calibration, truth[nodes], nodes) for nodes in truth])
    print_summaries(rows, "collective", "collective algorithm", "message_bytes", "machine", "ranks placement")


def _study(quick: bool) -> str:
    collectives = {
        collective: [f"timpani/{name}" for name in names.split()]
        for collective, (names, _) in predict.ALGORITHMS.items()
        if not quick or collective in QUICK
    }
    return "\n".join(
        [
            "ranks = [2]",
            f'sizes = "{SIZES}"',
            f"launches = {1 if quick else LAUNCHES}",
            f'slot = "{SLOT}"',
            "[collectives]",
            *(f"{collective} = {json.dumps(names)}" for collective, names in collectives.items()),
            *(f'[overrides.{collective}]\nsizes = "{BLOCKS}"' for collective in OF_BLOCKS if collective in collectives),
            "",
        ]
    )
