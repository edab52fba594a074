"""What is measured where neither the command line nor a study says it: light to import, since `run --help` shows it."""

DEFAULT_RANKS = "2"
DEFAULT_SIZES = "1:1M"

TUNING_REGRET = "2%"
"""The regret that `timpani tune` races to where neither launches nor a regret are named."""
