"""The campaigns that a command reads: one, or the newest where none was named; two that it compares; or a new one."""

from datetime import date
from pathlib import Path

import typer

from timpani.campaign.folder.load import Campaign, load
from timpani.campaign.read.differing_conditions import matched_states
from timpani.errors import UserError
from timpani.judge.changes import Changes, changes
from timpani.study.compose import operation_names


def campaign_or_newest(folder: Path | None) -> Path:
    """`folder`, or without one the campaign in the current folder that was last started, which standard error names.

    UserError where the current folder holds no campaign.
    """
    if folder is not None:
        return folder
    headers = [*Path().glob("campaign.json"), *Path().glob("*/campaign.json")]
    if not headers:
        raise UserError("no campaign is in the current folder", "name one, or measure one: timpani run demo")
    newest = max(headers, key=lambda header: (header.stat().st_mtime_ns, header)).parent
    typer.echo(f"the newest campaign here: {newest}", err=True)
    return newest


def two_campaigns(folder: Path, other: Path) -> tuple[Campaign, Campaign, Changes]:
    """The campaigns in two folders, compared within common states; UserError where both are one."""
    before, after = load(folder), load(other)
    copied = before.header.id == after.header.id
    if copied or folder.resolve() == other.resolve():
        raise UserError(f"{folder} and {other} are the same campaign", "name two")
    return before, after, changes(*matched_states(before, after))


def folder_of_today(what: list[str]) -> Path:
    """A folder here, named after the study, or the operations, and the day: `bcast-reduce-2026-03-31`."""
    names = [Path(name).name.removesuffix(".toml") for name in operation_names(what)]
    return Path("-".join([*names, f"{date.today():%Y-%m-%d}"]))
