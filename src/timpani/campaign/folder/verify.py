"""Verify a campaign's files: its records are as they were written, and its raw samples those of the results."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.load import Campaign
from timpani.campaign.folder.raw_record import hashes_of
from timpani.campaign.folder.records import RESULTS, read_records
from timpani.study.words import counted


@dataclass(frozen=True)
class Verification:
    """What the files of a campaign are worth.

    problems   what is not as it was written, in words
    verified   lines whose checksums are their own
    samples    results whose raw samples are there and are theirs
    """

    problems: list[str]
    verified: int
    samples: int


def verify(folder: Path, header: Header) -> Verification:
    """Verify the campaign of `header` in `folder`."""
    records = read_records(folder, header)
    results = records.values(RESULTS)
    mistaken = unlike_samples(folder, results)
    lines = sum(map(len, records.believed.values()))
    from_samples = sum(each.get("samples") is not None for each in results)
    return Verification(
        problems=[*records.problems(folder), *(f"{part}: {said}" for part, (said, _) in mistaken.items())],
        verified=lines,
        samples=from_samples - sum(count for _, count in mistaken.values()),
    )


def sample_warnings(campaign: Campaign) -> Iterator[str]:
    """A sentence for each start whose raw samples are not those that its results came from."""
    results = campaign.results.filter(pl.col("samples").is_not_null()).select("part", "samples")
    for place, (said, _) in unlike_samples(campaign.folder, results.iter_rows(named=True)).items():
        yield f"{place}: {said}"


def unlike_samples(folder: Path, results: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, int]]:
    """By the folder of a start whose raw samples are not those that gave its `results`: what is wrong, of how many."""
    named: defaultdict[str, set[str]] = defaultdict(set)
    for result in results:
        if result.get("samples") is not None:
            named[result["part"]].add(result["samples"])
    found = {}
    for part, hashes in sorted(named.items()):
        place = folder / "launches" / part
        if missing := len(hashes - hashes_of(place)):
            what = (
                "the raw samples are gone" if not any(place.glob("samples.jsonl*")) else "the raw samples don't match"
            )
            found[str(place)] = (
                f"{what}: {missing} of {counted(len(hashes), 'result')} can't be verified",
                missing,
            )
    return found
