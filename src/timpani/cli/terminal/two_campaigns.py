"""Two campaigns and what changed from one to the other."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from timpani.campaign.folder.load import Campaign
    from timpani.tuning.compare.changes import Changes


def two_campaigns(folder: Path, other: Path) -> "tuple[Campaign, Campaign, Changes]":
    """The campaigns in two folders, compared within common states; UserError where both are one."""
    from timpani.campaign.folder.load import load
    from timpani.campaign.read.matched_states import matched_states
    from timpani.errors import UserError
    from timpani.tuning.compare.changes import changes

    before, after = load(folder), load(other)
    copied = before.header.id == after.header.id
    if copied or folder.resolve() == other.resolve():
        raise UserError(f"{folder} and {other} are the same campaign", "name two")
    return before, after, changes(*matched_states(before, after))
