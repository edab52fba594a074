"""The folder of a campaign for which none was named."""

from datetime import date
from pathlib import Path


def folder_of_today(what: list[str]) -> Path:
    """A folder here, named after the study, or the operations, and the day: `bcast-reduce-2026-03-31`."""
    from timpani.study.compose import operation_names

    names = [Path(name).name.removesuffix(".toml") for name in operation_names(what)]
    return Path("-".join([*names, f"{date.today():%Y-%m-%d}"]))
