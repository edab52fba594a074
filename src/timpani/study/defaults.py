"""What is measured where neither the command line nor a study says it: light to import, since `run --help` shows it."""

DEFAULT_RANKS = "2"
DEFAULT_SIZES = "1:1M"
