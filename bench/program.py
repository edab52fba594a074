"""How long the program itself takes: its help, and a report from 100,000 results."""

import json
import statistics
import tempfile
from itertools import product
from pathlib import Path

from bench.common.command import timpani
from timpani.campaign.folder.header import FORMAT, VERSION
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.sealed import seal, seal_object
from timpani.study.cell import Algorithm, Cell

HELP_MUST_TAKE = 0.3
REPORT_MUST_TAKE = 10.0


def run() -> None:
    times = [timpani("--help") for _ in range(11)]
    print(f"timpani --help: {statistics.median(times):.2f} s (median of {len(times)}); must be under {HELP_MUST_TAKE}")
    with tempfile.TemporaryDirectory() as folder:
        rows = write_campaign(Path(folder) / "large")
        seconds = timpani("report", str(Path(folder) / "large"), "-o", str(Path(folder) / "report.html"))
        print(f"report from {rows:,} results: {seconds:.1f} s; must be under {REPORT_MUST_TAKE:.0f}")


def write_campaign(folder: Path) -> int:
    """A campaign of 10 algorithms × 4 collectives × 24 rank counts × 21 sizes × 5 launches, and how many results."""
    folder.mkdir()
    collectives = ("bcast", "scatter", "reduce", "allreduce")
    study = {"title": "large", "collectives": {name: ["all"] for name in collectives}}
    identity = "large"
    header = {"format": FORMAT, "version": VERSION, "id": identity, "study": study}
    (folder / "campaign.json").write_bytes(seal_object(json.dumps(header).encode()))
    names = ["default", *(f"algorithm_{number}" for number in range(1, 10))]
    rows = 0
    with (folder / "results.jsonl").open("wb") as file:
        for collective, name, ranks, power, launch in product(collectives, names, range(2, 50, 2), range(21), range(5)):
            cell = Cell(collective, Algorithm("openmpi", name), ranks, "core", 2**power, "warm")
            # A latency and a bandwidth term, an algorithm's factor, and a spread that repeats.
            median = (1 + 2**power / 4000) * ranks**0.5 * (1 + names.index(name) / 10) * (1 + (rows * 7919 % 97) / 2000)
            result = LaunchResult(
                cell,
                launch + 1,
                "large",
                median_us=median,
                ci_low_us=median * 0.99,
                ci_high_us=median * 1.01,
                osu_avg_us=median,
                osu_min_us=median,
                osu_max_us=median,
                skew_us=0.01,
                repetitions=500,
                outlier_share=0.01,
            )
            rows += 1
            file.write(seal(result.as_line(), rows, f"{identity}/results.jsonl"))
    return rows
