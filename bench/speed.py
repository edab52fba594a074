"""How long all broadcast algorithms take, against one launch for each algorithm and run with OSU's iterations."""

import tempfile
from pathlib import Path

from bench.command import cells, timpani

LAUNCHES = 5
MUST_TAKE = 60.0
MUST_GAIN = 5.0


def run() -> None:
    common = ("run", "bcast", "--ranks", "2", "--sizes", "1:1Mi", "--launches", str(LAUNCHES))
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
