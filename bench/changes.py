"""Does `timpani compare` call two campaigns of one thing different? One campaign's launches, split in two by chance."""

import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from bench.common.command import timpani
from timpani.campaign.folder.load import load
from timpani.judge.changes import FASTER, changes
from timpani.judge.decide import SLOWER
from timpani.stats.compare import STANDARD

LAUNCHES = 40  # half of them a campaign
PAIRS = 200
MOST = 0.01  # of the cells of a pair

WHAT = ("bcast", "allreduce", "--sizes", "8,1K,32K,256K")


def run() -> None:
    with tempfile.TemporaryDirectory() as root:
        folder = Path(root) / "campaign"
        timpani("run", *WHAT, "--launches", str(LAUNCHES), "-o", str(folder))
        results = load(folder).results
    random = np.random.default_rng(1)
    cells = changed = pairs_with = 0
    for _ in range(PAIRS):
        first = random.permutation(np.arange(1, LAUNCHES + 1))[: LAUNCHES // 2].tolist()
        of_first = pl.col("launch").is_in(first)
        found = changes(results.filter(of_first), results.filter(~of_first)).cells
        most = 1 + STANDARD.equivalence
        large = (pl.col("ratio") >= most) | (pl.col("ratio") <= 1 / most)
        wrong = found.filter(pl.col("standing").is_in([FASTER, SLOWER]), large).height
        cells += found.height
        changed += wrong
        pairs_with += wrong > 0
    print(
        f"{PAIRS} pairs of {LAUNCHES // 2} launches each, {cells // PAIRS} cells: the same thing, compared with itself"
    )
    print(f"cells called changed by 5 % or more: {100 * changed / cells:.3f} % (at most {100 * MOST:g})")
    print(f"pairs with any: {100 * pairs_with / PAIRS:.1f} %")
