"""What calls took over what they usually take, as factors of messages' times on the clock."""

import gzip
import json
from collections.abc import Iterable, Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

from timpani.campaign.folder.load import Campaign

_QUANTILES = 33


def quantiles(factors: NDArray[np.float64]) -> tuple[float, ...]:
    """At equal steps, as `noise` of Costs has them; without the outermost 1.5 %, since from one to the next all is
    equally likely, and a single call that took 250 times as long would be three of a hundred messages."""
    outermost = 0.5 / _QUANTILES
    return tuple(np.quantile(factors, np.linspace(outermost, 1 - outermost, _QUANTILES)).tolist())


def residual_factors(campaigns: Iterable[Campaign]) -> tuple[float, ...]:
    """Of each call its time over the median of its cell in its launch, from the campaigns' raw samples."""
    return quantiles(np.concatenate([factors for campaign in campaigns for factors in _factors(campaign)]))


def _factors(campaign: Campaign) -> Iterator[NDArray[np.float64]]:
    for part in campaign.results.filter(pl.col("error").is_null())["part"].unique().sort():
        record = campaign.folder / "launches" / part / "samples.jsonl.gz"
        for line in map(json.loads, gzip.decompress(record.read_bytes()).splitlines()):
            if "measured" in line:
                times = np.array(line["measured"]["completion_ns"])
                yield times / np.median(times)
