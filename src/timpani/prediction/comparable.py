"""Whether campaigns may tell the costs of one machine together."""

from collections.abc import Sequence

from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.libraries.registry import LIBRARIES


def check_comparable(campaigns: Sequence[Campaign]) -> None:
    """UserError where two are of different machines or libraries, measure different things by the same name, or are the
    same."""
    for what, told in (
        ("machines", [campaign.header.machine.name or "" for campaign in campaigns]),
        ("MPI libraries", [library_of(campaign) for campaign in campaigns]),
        ("cache modes", [mode for campaign in campaigns for mode in campaign.results["mode"].unique()]),
        ("methods", [campaign.header.study.method for campaign in campaigns]),
        ("kinds of calls", [_call(campaign) for campaign in campaigns]),
    ):
        different = sorted(set(told))
        if len(different) > 1:
            raise UserError(f"costs of {len(different)} {what}: {', '.join(different)}", "name campaigns of one")
    known: dict[str, Campaign] = {}
    for campaign in campaigns:
        same = known.setdefault(identity(campaign), campaign)
        if same is not campaign:
            raise UserError(
                f"{same.folder} and {campaign.folder} are one campaign, whose calls would count twice", "name it once"
            )


def identity(campaign: Campaign) -> str:
    """What is the same of copies of one campaign; of those that older versions recorded, of the folder alone."""
    return campaign.header.id or str(campaign.folder.resolve())


def library_of(campaign: Campaign) -> str:
    """In words."""
    mpi = campaign.header.mpi
    return f"{LIBRARIES[mpi.kind].name if mpi.kind in LIBRARIES else mpi.kind} {mpi.version}".strip() or "not told"


def _call(campaign: Campaign) -> str:
    return "set-up in each call" if campaign.header.study.include_setup else "set-up once before all calls"
