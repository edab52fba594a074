"""The overhead of measuring, and the difference between OSU's protocol and Timpani's on the same cells."""

import tempfile
from pathlib import Path

import polars as pl

from bench.common.command import cells, timpani


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        timpani("run", "null", "--ranks", "2", "--launches", "10", "-o", str(root / "null"))
        null = cells(root / "null")
        median, low, high = (null[name].item() * 1e3 for name in ("median_us", "ci_low_us", "ci_high_us"))
        print(f"null operation at 2 ranks: {median:.0f} ns ({low:.0f}–{high:.0f}); must be under 50")

        common = ("run", "bcast", "--algorithms", "default", "--ranks", "2", "--sizes", "1:1Mi*4", "--launches", "10")
        timpani(*common, "-o", str(root / "ours"))
        timpani(*common, "--method", "osu", "-o", str(root / "osu"))
        ours, osu = cells(root / "ours"), cells(root / "osu")
        print(
            "broadcast at 2 ranks, µs: completion (Timpani), OSU average of the same samples, OSU's own protocol, ratio"
        )
        joined = ours.join(osu.select("message_bytes", osu="osu_avg_us"), on="message_bytes").sort("message_bytes")
        for row in joined.iter_rows(named=True):
            ratio = row["median_us"] / row["osu"]
            print(
                f"{row['message_bytes']:>9} B  {row['median_us']:8.3f}  {row['osu_avg_us']:8.3f}  "
                f"{row['osu']:8.3f}  {ratio:5.2f}"
            )
        mean = joined.select((pl.col("median_us") / pl.col("osu")).log().mean().exp()).item()
        print(f"completion over OSU's protocol, geometric mean: {mean:.2f}")
