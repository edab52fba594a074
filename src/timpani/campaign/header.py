"""campaign.json: what a campaign measures, where and by which command; a campaign that goes on keeps its own."""

import json
import os
from pathlib import Path
from typing import Any

from timpani import __version__
from timpani.campaign.load import FORMAT, VERSION, read_header
from timpani.errors import UserError, cannot_write

UNFINISHED = "campaign.new"
"""The file's name while it is written."""

_MAY_CHANGE = frozenset({"launches", "budget", "title", "question"})
"""What a continued study may say differently: it can go on for longer."""


def new_header(
    study: dict[str, Any],
    machine: dict[str, Any],
    mpi: dict[str, Any],
    created: str,
    command: str,
    left_out: list[str],
    rules: str | None = None,
) -> dict[str, Any]:
    """campaign.json of a campaign that begins; `rules` is the text of the study's file of rules."""
    return {
        "timpani": __version__,
        "created": created,
        "study": study,
        "machine": machine,
        "mpi": mpi,
        "left_out": left_out,
        "commands": [command],
        "rules": rules,
    }


def keep_header(folder: Path, header: dict[str, Any]) -> None:
    """Write `header` for a campaign that begins, or what it adds to the one that is there.

    UserError where that one is of another study, library or machine.
    """
    path = folder / "campaign.json"
    if path.exists():
        old = read_header(folder)
        _check_same(folder, old, header)
        _write_whole(path, _continued(old, header))
    else:
        _write_whole(path, {"format": FORMAT, "version": VERSION, **header})


def _continued(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """The header of a campaign that goes on: for as long as the new command says, and with both commands named."""
    before = old.get("commands", [])
    commands = [*before, *(command for command in new["commands"] if command not in before)]
    return {**old, "study": new["study"], "commands": commands}


def _check_same(folder: Path, old: dict[str, Any], new: dict[str, Any]) -> None:
    before, now = old.get("study", {}), new["study"]
    for key in now:
        if key not in _MAY_CHANGE and before.get(key) != now[key]:
            raise UserError(
                f"{folder} holds another study: its {key} is {_short(before.get(key))}, not {_short(now[key])}",
                "choose another folder with -o, or give the same study",
            )
    if old.get("rules") != new.get("rules"):
        raise UserError(
            f"{folder} was measured with other rules in {now.get('rules')}", "choose another folder with -o"
        )
    for part, key in (("mpi", "kind"), ("mpi", "version"), ("machine", "name")):
        was, is_ = old.get(part, {}).get(key), new[part].get(key)
        if was != is_:
            raise UserError(
                f"{folder} was measured on {part} {key} {was}, this is {is_}", "choose another folder with -o"
            )


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


def _write_whole(path: Path, value: dict[str, Any]) -> None:
    """Write beside and rename, so that a header is there whole or not at all."""
    beside = path.with_name(UNFINISHED)
    try:
        with beside.open("w", encoding="utf-8") as file:
            json.dump(value, file, indent=1, ensure_ascii=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        beside.rename(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise cannot_write(path, error) from None
