"""Run the product as its users do, or another program, and read what it measured."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from timpani.campaign.folder.load import load
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results

TIMPANI = str(Path(sys.executable).parent / "timpani")


def output(argv: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """What a program prints; the benchmark ends where it fails.

    environment  variables in addition to this process's
    """
    variables = {**os.environ, **(environment or {})}
    done = subprocess.run(argv, env=variables, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(argv)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def timpani(*arguments: str) -> float:
    """Run the command and return its wall seconds; what it prints is shown only when it fails."""
    began = time.perf_counter()
    output([TIMPANI, *arguments])
    return time.perf_counter() - began


def cells(folder: Path) -> pl.DataFrame:
    """The estimated cells of a campaign."""
    return estimate_cells(raced_results(load(folder)))
