"""The raw record of a launch, samples.jsonl: read as it grows, packed once it is taken over."""

import gzip
import json
import shutil
from pathlib import Path
from typing import Any


def read_whole_lines(path: Path, position: int) -> tuple[list[dict[str, Any]], int]:
    """The objects of the whole lines from byte `position` on, and where the next unread byte is."""
    try:
        with path.open("rb") as file:
            file.seek(position)
            raw = file.read()
    except FileNotFoundError:
        return [], position
    end = raw.rfind(b"\n") + 1
    return [json.loads(line) for line in raw[:end].splitlines()], position + end


def compress(path: Path) -> None:
    """Replace a raw record by its gzip, which also marks it as taken over into the results."""
    if not path.exists():
        return
    beside = path.with_name(path.name + ".new")
    with path.open("rb") as plain, gzip.open(beside, "wb", compresslevel=1) as packed:
        shutil.copyfileobj(plain, packed)
    beside.rename(path.with_name(path.name + ".gz"))
    path.unlink()
