"""Write an import as a campaign folder: whole, or not at all."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from timpani.campaign.folder.header import UNFINISHED, Header
from timpani.campaign.folder.launch_result import LaunchResult
from timpani.campaign.folder.store import Store
from timpani.errors import UserError


def check_empty(folder: Path) -> None:
    """UserError where `folder` holds more than what an import leaves that could not write its header."""
    if folder.exists() and (not folder.is_dir() or {each.name for each in folder.iterdir()} - {"lock", UNFINISHED}):
        raise UserError(f"{folder} is not empty", "choose another folder with -o")


def write_import(folder: Path, header: Header, results: Iterable[LaunchResult]) -> None:
    """Write the campaign of `header` into the empty `folder`; if that fails, as on a full disk, nothing of it stays."""
    with Store(folder, header) as store:
        try:
            for result in results:
                store.add_result(result)
        except BaseException:
            shutil.rmtree(folder.resolve(), ignore_errors=True)
            raise
