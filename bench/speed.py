"""How long all broadcasts take, measured or raced, beside a launch for each algorithm and run by OSU's loop."""

import tempfile
from pathlib import Path

from bench.command import cells, timpani

LAUNCHES = 5
MUST_TAKE = 60.0
MUST_GAIN = 5.0
RACE_MUST_GAIN = 10.0
DECIDING = 10
"""Launches of each algorithm that a comparison of two takes at this number of them, about."""


def run() -> None:
    what = ("run", "bcast", "--ranks", "2", "--sizes", "1:1Mi")
    common = (*what, "--launches", str(LAUNCHES))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        ours = timpani(*common, "--precision", "0.05", "-o", str(root / "ours"))
        found = cells(root / "ours")
        names: list[str] = found["label"].unique().to_list()
        converged = found.filter(status="ok").height / found.height
        print(
            f"{len(names)} algorithms × 21 sizes × {LAUNCHES} launches: {ours:.1f} s, {converged:.0%} of the cells ok; "
            f"must be under {MUST_TAKE:.0f} s"
        )
        by_hand = sum(
            timpani(*common, "--method", "osu", "--algorithms", name, "-o", str(root / f"osu-{number}"))
            for number, name in enumerate(names)
        )
        print(
            f"one launch per algorithm and run, OSU's iterations: {by_hand:.1f} s, "
            f"{by_hand / ours:.1f} × as long; must be {MUST_GAIN:.0f} ×"
        )
        race = timpani(*what, "--regret", "2%", "-o", str(root / "race"))
        deciding = by_hand * DECIDING / LAUNCHES
        print(
            f"raced to a regret of 2 %: {race:.1f} s; by hand {DECIDING} launches of each, which a comparison takes, "
            f"would be {deciding:.1f} s, {deciding / race:.1f} × as long; must be {RACE_MUST_GAIN:.0f} ×"
        )
