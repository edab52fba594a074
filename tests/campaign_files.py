"""Write the files of a campaign folder with their checksums, as `timpani run` does."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import polars as pl

from timpani.campaign.folder.header import FORMAT, VERSION
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.load import frame
from timpani.campaign.folder.sealed_lines import checksum, seal_object

RESULT_DEFAULTS = {each.name: each.default for each in fields(LaunchResult) if each.default is not MISSING}


def write_header(folder: Path, **parts: Any) -> Path:
    """Write campaign.json with these keys, and the folder's place as the campaign's id; returns the folder."""
    values = {"format": FORMAT, "version": VERSION, "id": str(folder), **parts}
    (folder / "campaign.json").write_bytes(seal_object(json.dumps(values).encode()))
    return folder


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a file of records, whose campaign.json is in the same folder; the lines get new numbers and checksums.

    Fields that a result lacks get their defaults.
    """
    identity = json.loads((path.parent / "campaign.json").read_bytes())["id"]
    defaults = RESULT_DEFAULTS if path.name == "results.jsonl" else {}
    records = ({**defaults} | {key: row[key] for key in row if key not in ("line", "checksum")} for row in rows)
    bodies = (json.dumps({**values, "line": number}).encode()[:-1] for number, values in enumerate(records, 1))
    path.write_bytes(
        b"".join(b'%s, "checksum": "%s"}\n' % (each, checksum(each, identity).encode()) for each in bodies)
    )


def results_frame(results: Iterable[LaunchResult]) -> pl.DataFrame:
    """The results as a campaign has them that is read from its folder."""
    return frame([result.as_line() for result in results])
