"""What is measured where neither the command line nor a study says it: light to import, since `run --help` shows it."""

DEFAULT_RANKS = "2"
DEFAULT_SIZES = "1:1M"

TUNING_REGRET = "2%"
"""The regret that `timpani tune` races to where neither launches nor a regret are named."""

PROGRAM_REGRET = "1%"
"""The same with `--for`: what all choices together may lose of the program's time in MPI."""

LAUNCHES, MAX_LAUNCHES = 10, 32
"""Launches of a study that names none, and the maximum of a race."""

MIN_BLOCKS = 10
"""Runs of each side when a program is confirmed: the smallest p-value is then 2 / 2¹⁰."""

MAX_LAUNCHES_IN_BUDGET = 64
"""Maximum of a race with a time budget: the launches of the last interim analysis (`ANALYSES` of stats/regret.py)."""
