"""Where the native sources are, and a user's further algorithms."""

import os
from pathlib import Path

from timpani.errors import UserError

ALGORITHMS = "TIMPANI_ALGORITHMS"
"""The environment variable that names a folder with a user's algorithms, and CMake's variable for it."""


def sources() -> Path:
    """The native sources: inside an installed package, or the folder `native/` of a checkout."""
    installed = Path(__file__).parent / "sources"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "native"


def checkout_algorithms() -> Path | None:
    """The folder of Timpani's algorithms in a checkout, where a new one may be added; None in an installed package."""
    folder = Path(__file__).parents[3] / "native" / "algorithms"
    return folder if sources() == folder.parent and folder.is_dir() else None


def further_algorithms() -> Path | None:
    """The folder that TIMPANI_ALGORITHMS names, of which every `.cpp` file is built into the programs; None without.

    UserError where it names no folder.
    """
    named = os.environ.get(ALGORITHMS)
    if not named:
        return None
    folder = Path(named).expanduser().resolve()
    if not folder.is_dir():
        raise UserError(f"{ALGORITHMS} names no folder: {named}", f"make it, or unset {ALGORITHMS}")
    return folder
