"""Run the product as its users do, and read what it measured."""

import subprocess
import sys
import time
from pathlib import Path

import polars as pl

from timpani.campaign.folder.load import load
from timpani.campaign.read.cell_table import estimate_cells

TIMPANI = str(Path(sys.executable).parent / "timpani")


def timpani(*arguments: str) -> float:
    """Run the command and return its wall seconds; what it prints is shown only when it fails."""
    began = time.perf_counter()
    done = subprocess.run([TIMPANI, *arguments], capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - began
    if done.returncode != 0:
        sys.exit(f"timpani {' '.join(arguments)} failed:\n{done.stdout}{done.stderr}")
    return seconds


def cells(folder: Path) -> pl.DataFrame:
    """The estimated cells of a campaign."""
    return estimate_cells(load(folder).raced)
