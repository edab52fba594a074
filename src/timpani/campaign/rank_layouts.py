"""How a campaign's ranks lay over nodes, by rank count and placement."""

from collections import Counter

from timpani.campaign.load import Campaign
from timpani.machine.places import asked_places
from timpani.study.placement import RankLayout


def rank_layouts(campaign: Campaign) -> dict[tuple[int, str], RankLayout]:
    """The layout of each rank count and placement that was measured; none where ranks went over all slots and on."""
    machine, hosts = campaign.header.machine.cluster, campaign.header.machine.hosts
    found: dict[tuple[int, str], RankLayout] = {}
    for ranks, placement in campaign.results.select("ranks", "placement").unique().iter_rows():
        if machine is None:
            found[ranks, placement] = RankLayout(1, ranks)
            continue
        on = Counter(place.host for place in asked_places(machine, hosts, placement, ranks))
        if on.total() == ranks:
            found[ranks, placement] = RankLayout(len(on), max(on.values()))
    return found
