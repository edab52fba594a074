"""How a campaign's ranks lay over nodes, by rank count and placement."""

from collections import Counter
from dataclasses import dataclass

from timpani.campaign.load import Campaign
from timpani.machine.places import asked_places


@dataclass(frozen=True, order=True)
class Spread:
    """Ranks on so many nodes, at most `per_node` on one."""

    nodes: int
    per_node: int


def spreads(campaign: Campaign) -> dict[tuple[int, str], Spread]:
    """The spread of each rank count and placement that was measured; none where ranks went over all slots and on."""
    machine, hosts = campaign.header.machine.cluster, campaign.header.machine.hosts
    found: dict[tuple[int, str], Spread] = {}
    for ranks, placement in campaign.results.select("ranks", "placement").unique().iter_rows():
        if machine is None:
            found[ranks, placement] = Spread(1, ranks)
            continue
        on = Counter(place.host for place in asked_places(machine, hosts, placement, ranks))
        if on.total() == ranks:
            found[ranks, placement] = Spread(len(on), max(on.values()))
    return found
