"""Where the files of this slice are, and what the published tables are called; imports nothing large."""

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

FOLDER = Path(str(resources.files("timpani") / "studies"))

STUDY_FILES = FOLDER / "files"
"""The study files that repeat published studies."""

PUBLISHED = FOLDER / "published"
"""The published tables as CSV, and `sources.toml`, which describes them."""

CONCLUSIONS = FOLDER / "conclusions"
"""By study a file of what it concluded; users write their own in the same form."""


def sources() -> dict[str, dict[str, Any]]:
    """What `sources.toml` says of each table."""
    return tomllib.loads((PUBLISHED / "sources.toml").read_text(encoding="utf-8"))


def published_titles() -> dict[str, str]:
    """By the name of each published table its title."""
    return {name: source["title"] for name, source in sources().items()}
