"""The results of two campaigns with states of the machine that mean the same in both."""

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.folder.machine_states import with_states
from timpani.study.schema import STATE

_SIDE = "side"


def matched_states(before: Campaign, after: Campaign) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The results of both with STATE found in the probes of both together: each alone may have met one state only.

    STATE is null where the probes can't be matched: on two machines, or between nodes, where a probe is a message of
    the library, with two libraries.
    """
    sides = [before.results, after.results]
    if not _same_probe(before, after):
        first, second = (results.with_columns(pl.lit(None, pl.String).alias(STATE)) for results in sides)
        return first, second
    together = pl.concat(
        [
            # A launch's number, and what was interleaved in it, identify it within its campaign only.
            results.with_columns(
                pl.lit(side).alias(_SIDE), (pl.lit(f"{side} ") + pl.col("interleaving")).alias("interleaving")
            )
            for side, results in zip("AB", sides, strict=True)
        ],
        how="diagonal_relaxed",
    )
    states = with_states(together.drop(STATE, strict=False))[STATE]
    first, second = (
        results.with_columns(states.filter(together[_SIDE] == side)) for side, results in zip("AB", sides, strict=True)
    )
    return first, second


def _same_probe(before: Campaign, after: Campaign) -> bool:
    one, other = before.header, after.header
    if one.machine.name != other.machine.name:
        return False
    several_nodes = max(len(one.machine.hosts), len(other.machine.hosts)) > 1
    return not several_nodes or (one.mpi.kind, one.mpi.version) == (other.mpi.kind, other.mpi.version)
