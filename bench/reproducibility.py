"""How far a figure moves from one campaign to the next: ours against OSU's protocol at equal wall time."""

import math
import statistics
import tempfile
from pathlib import Path

from bench.command import cells, timpani

CAMPAIGNS = 10
LAUNCHES = 8
SIZES = "1:1Mi*4"
MUST_REACH = 1 / 3


def run() -> None:
    common = ("run", "bcast", "--algorithms", "default", "--ranks", "2", "--sizes", SIZES)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        ours_seconds = timpani(*common, "--launches", str(LAUNCHES), "-o", str(root / "ours-trial"))
        osu_seconds = timpani(*common, "--method", "osu", "--launches", str(LAUNCHES), "-o", str(root / "osu-trial"))
        osu_launches = max(1, round(LAUNCHES * ours_seconds / osu_seconds))  # OSU's may run as long as ours
        print(
            f"one campaign of ours, {LAUNCHES} launches: {ours_seconds:.1f} s; "
            f"OSU's protocol in that time: {osu_launches} launches"
        )
        ours: dict[int, list[float]] = {}
        osu: dict[int, list[float]] = {}
        for campaign in range(CAMPAIGNS):  # in turn, so that both see the same machine
            where = root / f"ours-{campaign}"
            timpani(*common, "--launches", str(LAUNCHES), "--seed", str(campaign), "-o", str(where))
            for row in cells(where).iter_rows(named=True):
                ours.setdefault(row["message_bytes"], []).append(row["median_us"])
            where = root / f"osu-{campaign}"
            timpani(
                *common, "--method", "osu", "--launches", str(osu_launches), "--seed", str(campaign), "-o", str(where)
            )
            for row in cells(where).iter_rows(named=True):
                osu.setdefault(row["message_bytes"], []).append(row["osu_avg_us"])
    ratios = []
    for size in ours:
        ratio = spread(ours[size]) / spread(osu[size])
        ratios.append(ratio)
        print(
            f"{size:>9} B  MAD/median ours {spread(ours[size]):.4f}  OSU's {spread(osu[size]):.4f}  ratio {ratio:.2f}"
        )
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
    print(
        f"spread over {CAMPAIGNS} campaigns, ours over OSU's, geometric mean: {mean:.2f}; "
        f"must be at most {MUST_REACH:.2f}"
    )


def spread(values: list[float]) -> float:
    """MAD over median; at least a thousandth, the resolution of a figure printed in three digits."""
    middle = statistics.median(values)
    return max(1e-3, statistics.median(abs(value - middle) for value in values) / middle)
