"""What killed launches left on this computer, removed on request."""

import fcntl
from pathlib import Path

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.records import ENDINGS, LAUNCHES, read_records
from timpani.campaign.run.launch_temporary import remove_temporaries
from timpani.libraries.registry import LIBRARIES


def remove_leftovers(folder: Path, header: Header) -> list[Path]:
    """Remove the temporary folders of all dead launches, and what else launches of this campaign left; returns them.

    Of a campaign that is being measured only the next start knows which launches are dead.
    """
    removed = remove_temporaries()
    if header.mpi.kind in LIBRARIES and not _is_measured(folder):
        records = read_records(folder, header)
        ended = {line["part"] for line in records.values(ENDINGS)}
        for part in (line["part"] for line in records.values(LAUNCHES) if line["part"] not in ended):
            removed += LIBRARIES[header.mpi.kind].launcher.remove_remains(folder / "launches" / part)
    return removed


def _is_measured(folder: Path) -> bool:
    """Whether a process measures into `folder`, or nobody can know since there are no locks."""
    try:
        with (folder / "lock").open("rb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False
