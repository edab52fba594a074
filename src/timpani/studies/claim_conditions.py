"""Under how much of a study's conditions a campaign tests what the study concluded."""

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.folder.store import PROVIDER
from timpani.campaign.read.message_locality import localities_of, locality_of, node_count
from timpani.campaign.read.study_names import study_label
from timpani.libraries.registry import counterpart, library_title
from timpani.machine.nodes.locality import DIFFERENT_SWITCH, LEVELS, SAME_NODE, SAME_SWITCH
from timpani.report.verdict.message_summary import latency_fits
from timpani.studies.claim import Claim
from timpani.studies.comparison_checks import COMPARISON_CHECKS
from timpani.studies.tables import Published
from timpani.study.cell import COMPOSED, DEFAULT, OWN, Algorithm
from timpani.study.compose import shipped_studies
from timpani.study.schema import schema
from timpani.study.sizes import show_size
from timpani.study.study import Study
from timpani.study.words import counted

_MAX_NAMED = 4
"""Of what wasn't measured; more are counted."""


@dataclass(frozen=True)
class ClaimConditions:
    """What a claim is tested under.

    points, of_points  measured points within the claim's scope, and the study's: rank counts × placements × sizes
    not_measured       the rank counts, placements and sizes of the study, within the scope, that have no time at all
    nodes, of_nodes    None where no launch says; a study that doesn't say had several
    stand_ins          algorithms in the place of the study's, `timpani/knomial for openmpi/knomial`
    """

    points: int
    of_points: int
    not_measured: tuple[str, ...]
    nodes: int | None
    of_nodes: int | None
    stand_ins: tuple[str, ...]

    @property
    def met(self) -> bool:
        """Whether the campaign covers the study's conditions, so that its verdict is one on the study's conclusion."""
        return not any(self._differences())

    @property
    def differences(self) -> str:
        """What differs from the study; empty where its conditions are met."""
        return ", ".join(self._differences())

    def _differences(self) -> Iterator[str]:
        if self.points < self.of_points:
            names = f" (not measured: {'; '.join(self.not_measured)})" if self.not_measured else ""
            yield f"at {self.points} of the study's {counted(self.of_points, 'point')}{names}"
        had = "several" if self.of_nodes is None else self.of_nodes
        if self.nodes is None:
            yield f"on an unknown number of nodes where it had {had}"
        elif self.nodes < 2 if self.of_nodes is None else self.nodes != self.of_nodes:
            yield f"on {counted(self.nodes, 'node')} where it had {had}"
        if self.stand_ins:
            yield f"with {' and '.join(self.stand_ins)}"


def claim_conditions(claim: Claim, table: Published, campaign: Campaign, times: pl.DataFrame) -> ClaimConditions:
    """Of `claim`, made by the study of `table`, in `campaign` with the times of `claim_times`."""
    study = next(each.study for each in shipped_studies() if each.name == claim.study)
    kind = campaign.header.mpi.kind
    compared = claim.competitors if claim.check in COMPARISON_CHECKS else claim.among
    names = dict.fromkeys((*claim.algorithms, *compared))
    named = [Algorithm.parse(name) for name in names if "/" in name or name == DEFAULT]
    here = [each if each.provider in (OWN, COMPOSED) else counterpart(claim.collective, each, kind) for each in named]
    labels = [study_label(campaign, claim.collective, each.label) for each in here]
    own = claim.in_scope(times).filter(pl.col("label").is_in(labels))
    points, missing = _of_study(claim, study, own)
    return ClaimConditions(
        points=len(points & set(own.select("ranks", "placement", "message_bytes").rows())) if points else 0,
        of_points=len(points),
        not_measured=missing,
        nodes=node_count(campaign),
        of_nodes=table.nodes,
        stand_ins=tuple(_stand_ins(named, here, table.provider, kind)),
    )


def _of_study(claim: Claim, study: Study, own: pl.DataFrame) -> tuple[set[tuple[int, str, int]], tuple[str, ...]]:
    """The study's points within the claim's scope, and what of their coordinates `own` lacks.

    A claim of a study with one placement is about any; one about a fitted cost names no points.
    """
    if claim.collective not in study.collectives:
        return set(), ()
    ranks = [count for count in study.ranks if not claim.ranks or count in claim.ranks]
    sizes = [size for size in study.sizes_of(claim.collective) if claim.from_bytes <= size <= claim.to_bytes]
    measured = sorted(set(own["placement"]))
    placements = [*filter(claim.covers_placement, study.placement)] if len(study.placement) > 1 else measured
    lacking = (
        (" ranks", [str(count) for count in ranks if count not in set(own["ranks"])]),
        ("", [placement for placement in placements if placement not in measured]),
        ("", [show_size(size) for size in sizes if size not in set(own["message_bytes"])]),
    )
    missing = tuple(_list_names(names, unit) for unit, names in lacking if names)
    return {(count, place, size) for count in ranks for place in placements for size in sizes}, missing


def _list_names(names: list[str], unit: str) -> str:
    more = len(names) - _MAX_NAMED
    return f"{', '.join(names[:_MAX_NAMED])}{f' and {more} more' if more > 0 else ''}{unit}"


def _stand_ins(named: list[Algorithm], here: list[Algorithm], library: str, kind: str) -> Iterator[str]:
    """Counterparts from another provider. A study with an unknown library has a different default, too."""
    for theirs, replacement in zip(named, here, strict=True):
        if theirs.name == DEFAULT:
            if library not in (PROVIDER, kind):
                yield f"{library_title(kind, '')}'s default for {library_title(library, '')}'s"
        elif theirs.provider != replacement.provider:
            yield f"{replacement.provider}/{replacement.name} for {theirs.provider}/{theirs.name}"


_PLACES = {
    **dict.fromkeys((*LEVELS.values(), SAME_NODE), "single_node"),
    SAME_SWITCH: "leaf_nodes",
    DIFFERENT_SWITCH: "random_nodes",
}
"""The studies' names of localities."""


_COLUMNS = {
    **schema("collective", "label", "ranks", "placement", "mode", "machine", "message_bytes"),
    **dict.fromkeys(("time_us", "low_us", "high_us"), pl.Float64()),
}


def message_costs(campaign: Campaign, cells: pl.DataFrame) -> pl.DataFrame:
    """T_s in µs and T_c in µs a byte as the collectives `T_s` and `T_c`, columns as `claim_times` has them.

    `label` says where the two ranks sat; of several pairs that sat so the median counts. There are no intervals.
    """
    localities = localities_of(campaign)
    rows = [
        {
            "collective": cost,
            "label": _PLACES.get(locality_of(fitted.name, localities) or ""),
            "ranks": 2,
            "message_bytes": 0,
            "time_us": value,
            **{name: fitted.name[name] for name in ("placement", "mode", "machine")},
        }
        for fitted in latency_fits(campaign, cells)
        if not fitted.misses  # a poor fit gives no cost
        for cost, value in (("T_s", fitted.hockney.latency.value), ("T_c", fitted.hockney.per_byte.value))
    ]
    key = [name for name in _COLUMNS if not name.endswith("_us")]
    known = pl.DataFrame(rows, schema=_COLUMNS).filter(pl.col("label").is_not_null(), pl.col("time_us") > 0)
    return known.group_by(key).agg(pl.median("time_us"), pl.first("low_us", "high_us")).select(*_COLUMNS)
