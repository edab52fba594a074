"""Under how much of a study's conditions a campaign tests what the study concluded."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.osu.osu_import import PROVIDER
from timpani.campaign.osu.published_tables import Published
from timpani.campaign.read.message_locality import node_count
from timpani.libraries.counterpart import counterpart
from timpani.study.cell import COMPOSED, DEFAULT, OWN, Algorithm
from timpani.study.counted import counted
from timpani.study.shipped import shipped_studies
from timpani.tuning.claims.claim import Claim


@dataclass(frozen=True)
class ClaimConditions:
    """What a claim is tested under.

    rank_counts, of_rank_counts  how many of the study's the campaign has of the claim's algorithms, and the study
    nodes, of_nodes              None where nobody told; a study that didn't tell had several
    stand_ins                    algorithms in the place of the study's, `timpani/knomial for openmpi/knomial`
    """

    rank_counts: int
    of_rank_counts: int
    nodes: int | None
    of_nodes: int | None
    stand_ins: tuple[str, ...]

    @property
    def met(self) -> bool:
        """Whether the campaign covers the study's conditions, so that its verdict is one on the study's conclusion."""
        return not any(self._lacking())

    @property
    def words(self) -> str:
        """What differs from the study; empty where its conditions are met."""
        return ", ".join(self._lacking())

    def as_object(self) -> dict[str, Any]:
        """For JSON."""
        return {**vars(self), "stand_ins": list(self.stand_ins), "met": self.met}

    def _lacking(self) -> Iterator[str]:
        if self.rank_counts < self.of_rank_counts:
            yield f"at {self.rank_counts} of the study's {counted(self.of_rank_counts, 'rank count')}"
        had = "several" if self.of_nodes is None else self.of_nodes
        if self.nodes is None:
            yield f"on an unknown number of nodes where it had {had}"
        elif self.nodes < 2 if self.of_nodes is None else self.nodes != self.of_nodes:
            yield f"on {counted(self.nodes, 'node')} where it had {had}"
        if self.stand_ins:
            yield f"with {' and '.join(self.stand_ins)}"


def claim_conditions(claim: Claim, table: Published, campaign: Campaign, times: pl.DataFrame) -> ClaimConditions:
    """Of `claim`, made by the study of `table`, in `campaign` with the times of `claim_times`."""
    ranks = next(set(each.study.ranks) for each in shipped_studies() if each.name == claim.study)
    kind = campaign.header.mpi.kind
    named = [Algorithm.parse(name) for name in (*claim.algorithms, *claim.among)]
    here = [each if each.provider in (OWN, COMPOSED) else counterpart(claim.collective, each, kind) for each in named]
    own = times.filter(pl.col("collective") == claim.collective, pl.col("label").is_in([each.label for each in here]))
    return ClaimConditions(
        rank_counts=len(ranks & set(own["ranks"])),
        of_rank_counts=len(ranks),
        nodes=node_count(campaign),
        of_nodes=table.nodes,
        stand_ins=tuple(_stand_ins(named, here, table.provider, kind)),
    )


def _stand_ins(named: list[Algorithm], here: list[Algorithm], library: str, kind: str) -> Iterator[str]:
    """Those of another provider; a study whose library isn't known had a default of its own too."""
    for theirs, ours in zip(named, here, strict=True):
        if theirs.name == DEFAULT:
            if library not in (PROVIDER, kind):
                yield f"{kind}'s default for {library}'s"
        elif theirs.provider != ours.provider:
            yield f"{ours.provider}/{ours.name} for {theirs.provider}/{theirs.name}"
