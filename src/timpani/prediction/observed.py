"""Measured calls of Timpani's algorithms, as calls that can be simulated."""

from collections.abc import Iterable, Mapping

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.message_locality import seats_of
from timpani.machine.nodes.locality import Seat
from timpani.machine.nodes.model import Machine
from timpani.prediction.calibrate import Observation
from timpani.schedules.simulation import RankPlace, SimulatedCall
from timpani.study.cell import OWN, Algorithm, parse_parameters
from timpani.study.schema import MACHINE_CELL, MEASURED_US, is_timpani_schedule

Places = tuple[RankPlace, ...]


def observations(campaign: Campaign) -> list[Observation]:
    """One observation for each cell of a Timpani algorithm, with its times."""
    rows = campaign.results.filter(is_timpani_schedule(), pl.col("error").is_null(), MEASURED_US > 0)
    cells = rows.group_by(MACHINE_CELL, maintain_order=True).agg(
        MEASURED_US.sort_by("launch").alias("times"), pl.col("oversubscribed").any().alias("oversubscribed")
    )
    places = places_of(campaign)
    element_bytes = campaign.header.study.element_bytes_of
    return [
        Observation(
            call_of(row, element_bytes(row["collective"]), places.get((row["ranks"], row["placement"]), ())),
            tuple(row["times"]),
            # Without a deadline: ranks that share cores, and the OSU method, start after a barrier.
            at_deadline=not row["oversubscribed"] and campaign.header.study.method != "osu",
        )
        for row in cells.iter_rows(named=True)
    ]


def call_of(row: Mapping[str, object], element_bytes: int, places: Places) -> SimulatedCall:
    """The call of a cell, from its columns."""
    return SimulatedCall(
        collective=str(row["collective"]),
        algorithm=Algorithm(OWN, str(row["algorithm"]), parse_parameters(str(row["parameters"]))),
        ranks=int(str(row["ranks"])),
        count=int(str(row["message_bytes"])) // element_bytes,
        element_bytes=element_bytes,
        places=places,
    )


def places_of(campaign: Campaign) -> dict[tuple[int, str], Places]:
    """The recorded places of ranks, by rank count and placement."""
    machine = campaign.header.machine.cluster
    return {key: places_on(seats, machine) for key, seats in seats_of(campaign).items()}


def places_on(seats: Iterable[Seat], machine: Machine | None) -> Places:
    """The place of each rank; nodes with an unknown switch form one group."""
    switches = machine.switches if machine else {}
    nodes, groups = _Numbers(), _Numbers()
    return tuple(
        RankPlace(nodes[each.host], groups[switches.get(each.host, "")], each.socket, each.cache) for each in seats
    )


class _Numbers(dict[str, int]):
    """Numbers names in the order of first use."""

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]
