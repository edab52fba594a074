"""What to know of a campaign's conditions and records before its figures are believed."""

from collections.abc import Iterator

from timpani.campaign.folder.load import Campaign
from timpani.campaign.folder.verify import sample_warnings
from timpani.campaign.read.other_activity import load_warnings
from timpani.campaign.read.unchanged_variants import unchanged_warnings
from timpani.libraries.outside_settings import baseline_warnings


def campaign_warnings(campaign: Campaign) -> Iterator[str]:
    """A sentence for each setting that decides the default, each faster variant that changed nothing, each busy machine
    and each start with wrong samples."""
    yield from baseline_warnings(campaign.header.outside or ())
    yield from unchanged_warnings(campaign)
    yield from load_warnings(campaign.launches)
    yield from sample_warnings(campaign)
