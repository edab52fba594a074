"""Whether the interval of one launch holds the median of another launch of the same job.

The launches are runs of PICO's segmented Bine butterfly with two segment sizes, none of which cuts a message: a segment
holds at least half of the vector, the largest message. So both runs send the same messages, seconds apart.
"""

from itertools import permutations
from pathlib import Path

import numpy as np
import polars as pl

from timpani.campaign.folder.load import load
from timpani.study.cell import parse_parameters

MIN_HELD = 0.9
_ALGORITHM = "bine_bdw_remap_segmented_over"


def measure(archives: Path, campaigns: Path) -> bool:
    """Print, by machine, the share of pairs of launches of which one's interval holds the other's median."""
    held: dict[str, list[tuple[bool, float, float]]] = {}
    for folder in sorted(campaigns.iterdir()):
        rows = load(folder).results.filter(algorithm=_ALGORITHM)
        uncut = [
            2 * dict(parse_parameters(parameters)).get("segment_bytes", 0) >= size
            for parameters, size in rows.select("parameters", "message_bytes").iter_rows()
        ]
        for _, launches in rows.filter(pl.Series(uncut, dtype=pl.Boolean)).group_by("part", "message_bytes"):
            for one, other in permutations(launches.iter_rows(named=True), 2):
                held.setdefault(folder.name, []).append(
                    (
                        one["ci_low_us"] <= other["median_us"] <= one["ci_high_us"],
                        (one["ci_high_us"] - one["ci_low_us"]) / 2 / one["median_us"],
                        abs(float(np.log(one["median_us"] / other["median_us"]))),
                    )
                )
    every = [pair for pairs in held.values() for pair in pairs]
    for name, pairs in [*held.items(), ("all", every)]:
        shares, widths, differences = (np.array(column) for column in zip(*pairs, strict=True))
        print(
            f"{name}: {len(pairs) // 2} pairs of launches differ by {np.median(differences):.2%} (median); "
            f"intervals are ±{np.median(widths):.2%} and hold {shares.mean():.1%} of the other medians"
        )
    share = float(np.mean([each for each, *_ in every]))
    print(f"{share:.1%} are held (at least {MIN_HELD:.0%})")
    return share >= MIN_HELD
