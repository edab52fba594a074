"""Checks that campaigns can be combined to estimate the costs of one machine."""

from collections.abc import Sequence

from timpani.campaign.folder.load import Campaign
from timpani.errors import UserError
from timpani.study.arrival import TOGETHER


def check_comparable(campaigns: Sequence[Campaign]) -> None:
    """UserError if ranks entered late in a campaign, if two campaigns differ in machine, library, cache mode, method or
    kind of call, or if they are the same one."""
    late = [pattern for each in campaigns for pattern in each.results["arrival"].unique() if pattern != TOGETHER]
    if late:
        raise UserError(
            f"ranks entered {late[0]}, and costs follow from calls that ranks enter together",
            "name campaigns without --arrival",
        )
    for what, values in (
        ("machines", [campaign.header.machine.name or "" for campaign in campaigns]),
        ("MPI libraries", [library_of(campaign) for campaign in campaigns]),
        ("cache modes", [mode for campaign in campaigns for mode in campaign.results["mode"].unique()]),
        ("methods", [campaign.header.study.method for campaign in campaigns]),
        ("kinds of calls", [_setup_time(campaign) for campaign in campaigns]),
    ):
        different = sorted(set(values))
        if len(different) > 1:
            raise UserError(f"costs of {len(different)} {what}: {', '.join(different)}", "name only one of them")
    known: dict[str, Campaign] = {}
    for campaign in campaigns:
        same = known.setdefault(campaign.header.id, campaign)
        if same is not campaign:
            raise UserError(
                f"{same.folder} and {campaign.folder} are one campaign: its calls would count twice", "name it once"
            )


def library_of(campaign: Campaign) -> str:
    """Name and version of the campaign's MPI library."""
    return campaign.header.mpi.title or "unknown"


def _setup_time(campaign: Campaign) -> str:
    return "setup in each call" if campaign.header.study.include_setup else "setup once before all calls"
