"""The import of all archives in one command: processor time, memory, and whether medians equal PICO's."""

import csv
import io
import resource
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from bench.common.command import timpani
from timpani.campaign.folder.load import load
from timpani.study.schema import POINT, is_default

MAX_SECONDS = 60
MAX_MB = 500
_WARM_UP_SHARE = 0.2  # PICO leaves out these calls, but not on Fugaku
_SUMMARY = "aggregated_results_summary.csv"
_NS_PER_US = 1e3

Median = tuple[str, float]
"""The start of the batch job, and nanoseconds."""


def measure(archives: Path, campaigns: Path) -> bool:
    """Import into `campaigns`, and compare all medians."""
    timpani("import", "pico", str(archives), "-o", str(campaigns))
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)  # this part runs first
    seconds, megabytes = spent.ru_utime + spent.ru_stime, spent.ru_maxrss / 1e3
    imported: Counter[Median] = Counter()
    points = 0
    for folder in sorted(campaigns.iterdir()):
        campaign = load(folder)
        started = {each["part"]: each["started"] for each in campaign.launches}
        rows = campaign.results.with_columns(default=is_default())
        imported.update(
            (started[part], _rounded(us * _NS_PER_US)) for part, us in rows.select("part", "median_us").rows()
        )
        of_points = rows.group_by(*POINT, "part").agg(pl.col("default").any(), rival=~pl.col("default").all())
        points += of_points.filter("default", "rival").height
    by_rule, of_pico = Counter[Median](), Counter[Median]()
    for archive in sorted(archives.glob("*/*.tar.gz")):
        of_rule, of_summary = _medians(archive)
        by_rule.update(of_rule)
        of_pico.update(of_summary)
    differing, missing = (imported - by_rule).total(), (of_pico - imported).total()
    print(f"{seconds:.1f} s of processor time (at most {MAX_SECONDS}), {megabytes:.0f} MB (at most {MAX_MB})")
    print(f"{imported.total()} of {by_rule.total()} files of times imported; {points} points with default and rival")
    print(
        f"{differing} medians are not by PICO's rule (0); {missing} of {of_pico.total()} in its summaries missing (0)"
    )
    return seconds <= MAX_SECONDS and megabytes <= MAX_MB and not differing and not missing


def _medians(archive: Path) -> tuple[list[Median], list[Median]]:
    """The medians of an archive's files by PICO's rule, and those in PICO's summary of it."""
    date, _, clock = archive.name.removesuffix(".tar.gz").partition("___")
    started = f"{date.replace('_', '-')}T{clock.replace('_', ':')}"
    by_rule, of_pico = [], []
    with tarfile.open(archive) as members:
        for member in members:
            content = members.extractfile(member) if member.name.endswith(".csv") else None
            raw = content.read() if content else b""
            if member.name.endswith(_SUMMARY):
                rows = csv.DictReader(io.StringIO(raw.decode()))
                of_pico += [(started, _rounded(float(row["median"]))) for row in rows]
            elif raw.startswith(b"highest"):
                by_rule.append((started, _rounded(_median(raw, on_fugaku=archive.parent.name == "fugaku"))))
    return by_rule, of_pico


def _median(raw: bytes, on_fugaku: bool) -> float:
    calls = np.array(list(_calls(raw)))
    return float(np.median(calls if on_fugaku else calls[int(_WARM_UP_SHARE * len(calls)) :]))


def _calls(raw: bytes) -> Iterator[int]:
    for line in raw.splitlines()[1:]:
        if line.isdigit():
            yield int(line)


def _rounded(ns: float) -> float:
    return round(ns, 1)
