"""Paths that smpirun, a shell script, would split at spaces and commas or take for patterns."""

import hashlib
import re
from contextlib import suppress
from pathlib import Path

from timpani.errors import UserError
from timpani.native.cache import temporary_folder

_SPLIT = re.compile(r"[\s,*?\[\]]")


def splits(text: str) -> bool:
    """Whether smpirun would take `text` for several words or for a pattern."""
    return bool(_SPLIT.search(text))


def unsplit(path: Path) -> Path:
    """Another path of the same file that smpirun leaves whole, through a link among the temporary files; `path` itself
    where smpirun does that already. The file need not exist yet."""
    if not splits(str(path)):
        return path
    path = path.absolute()
    # One link for all that is in a folder: campaigns have a folder for each start.
    linked = next(each for each in (*reversed(path.parents), path) if not splits(str(path.relative_to(each))))
    ending = "" if splits(linked.suffix) else linked.suffix
    link = temporary_folder() / f"{hashlib.sha256(str(linked).encode()).hexdigest()[:16]}{ending}"
    if splits(str(link)):
        raise UserError(
            f"smpirun would split {str(path)!r}, and a link to it in {link.parent} too",
            "set TMPDIR to a folder without spaces, commas and wildcards",
        )
    with suppress(FileExistsError):  # of an earlier start, or of one at the same time: the name shows the target
        link.symlink_to(linked)
    return link / path.relative_to(linked)
