"""What a study concluded, checked against what it published and against a campaign, and under how much of the study's
conditions the campaign tests it."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.folder.store import PROVIDER
from timpani.campaign.read.message_locality import localities_of, locality_of, node_count, without_pairs
from timpani.campaign.read.study_names import study_label
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.libraries.registry import counterpart, library_title
from timpani.machine.nodes.locality import DIFFERENT_SWITCH, LEVELS, SAME_NODE, SAME_SWITCH
from timpani.report.verdict.message_summary import latency_fits
from timpani.studies.checks import check_of
from timpani.studies.claim import Claim, ClaimResult, check_claim
from timpani.studies.tables import Published, is_import_of, study_times
from timpani.study.cell import COMPOSED, DEFAULT, OWN, Algorithm
from timpani.study.compose import shipped_studies
from timpani.study.schema import MEASURED_US, schema
from timpani.study.sizes import show_size
from timpani.study.study import Study
from timpani.study.words import counted

_MAX_NAMED = 4
"""Of what wasn't measured; more are counted."""


@dataclass(frozen=True)
class Checked:
    """A claim checked twice.

    published    against what the study published
    here         against a campaign; None where that is the published table
    differences  of the campaign from the study's conditions: with some, `here` is no verdict on the study's conclusion
    """

    published: ClaimResult
    here: ClaimResult | None = None
    differences: tuple[str, ...] = ()


def check_claims(table: Published, campaign: Campaign) -> list[Checked]:
    """All conclusions of the study of `table`, against all that it published, and against the times of `campaign`."""
    kind = campaign.header.mpi.kind
    cells = estimate_cells(raced_results(campaign))
    printed = _printed_times(table)
    own = pl.concat([claim_times(without_pairs(cells)), message_costs(campaign, cells)])

    def checked(claim: Claim) -> Checked:
        check, operation = check_of(claim), claim.collective
        published = check_claim(claim, check, printed, lambda name: _label(operation, name, table.provider))
        if is_import_of(campaign.header, table):
            return Checked(published)
        here = check_claim(
            claim, check, own, lambda name: study_label(campaign, operation, _label(operation, name, kind))
        )
        return Checked(published, here, tuple(_differences(claim, table, campaign, own)) if claim.study else ())

    return [checked(claim) for claim in table.claims]


def _printed_times(table: Published) -> pl.DataFrame:
    """What the study published as `claim_times` has a campaign's: without bounds."""
    given = {"placement": pl.lit("unknown"), "mode": pl.lit("warm"), "time_us": pl.col("published_us")}
    bounds = dict.fromkeys(("low_us", "high_us"), pl.lit(None, pl.Float64))
    return study_times(table.study).with_columns(**given, **bounds).select(*_COLUMNS)


_MIN_COVERAGE = 0.9
"""Minimum coverage of an interval over launches that may decide a claim; the interval over 5 launches covers 0.94."""


def claim_times(cells: pl.DataFrame) -> pl.DataFrame:
    """The times of `estimate_cells` for claims: `time_us`, `low_us` and `high_us`.

    The bounds are those of the interval over launches if its coverage is at least _MIN_COVERAGE. A simulated time does
    not vary and is its own bound. Fewer launches bound nothing, so that they decide nothing. Imported averages have
    null as bounds: they are checked by value.
    """
    simulated = pl.col("status").str.contains("simulated")
    average = pl.col("median_us").is_null()
    trusted = (pl.col("ci_coverage") >= _MIN_COVERAGE).fill_null(value=False)
    time = MEASURED_US
    return cells.filter(time > 0, time.is_finite()).select(
        *_KEY,
        time.alias("time_us"),
        *(
            pl.when(simulated)
            .then(time)
            .when(average)
            .then(None)
            .when(trusted)
            .then(bound)
            .otherwise(pl.lit(nothing))
            .alias(name)
            for name, bound, nothing in (("low_us", "ci_low_us", 0.0), ("high_us", "ci_high_us", inf))
        ),
    )


def _label(collective: str, name: str, kind: str) -> str:
    """What a campaign with this library calls an algorithm that a study file names; Timpani's are the same on all."""
    return _counterpart(collective, Algorithm.parse(name), kind).label


def _counterpart(collective: str, algorithm: Algorithm, kind: str) -> Algorithm:
    return algorithm if algorithm.provider in (OWN, COMPOSED) else counterpart(collective, algorithm, kind)


def _differences(claim: Claim, table: Published, campaign: Campaign, times: pl.DataFrame) -> Iterator[str]:
    """What differs in `campaign`, with the times of `claim_times`, from the study of `table`, which draws `claim`."""
    study = next(each.study for each in shipped_studies() if each.name == claim.study)
    kind, check = campaign.header.mpi.kind, check_of(claim)
    names = dict.fromkeys((*claim.algorithms, *(claim.competitors if check and check.competes else claim.among)))
    named = [Algorithm.parse(name) for name in names if "/" in name or name == DEFAULT]
    here = [_counterpart(claim.collective, each, kind) for each in named]
    labels = [study_label(campaign, claim.collective, each.label) for each in here]
    if campaign.results["simulated"].any():
        yield "simulated"
    own = claim.in_scope(times).filter(pl.col("label").is_in(labels))
    points, missing = _of_study(claim, study, own)
    measured = points.intersection(own.select("ranks", "placement", "message_bytes").rows())
    if len(measured) < len(points):
        lacking = f" (not measured: {'; '.join(missing)})" if missing else ""
        yield f"at {len(measured)} of the study's {counted(len(points), 'point')}{lacking}"
    nodes, had = node_count(campaign), "several" if table.nodes is None else table.nodes
    if nodes is None:
        yield f"on an unknown number of nodes where it had {had}"
    elif nodes < 2 if table.nodes is None else nodes != table.nodes:
        yield f"on {counted(nodes, 'node')} where it had {had}"
    if stand_ins := [*_stand_ins(named, here, table.provider, kind)]:
        yield f"with {' and '.join(stand_ins)}"


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


_KEY = ("collective", "label", "ranks", "placement", "mode", "machine", "message_bytes")
_COLUMNS = {**schema(*_KEY), **dict.fromkeys(("time_us", "low_us", "high_us"), pl.Float64())}


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
    known = pl.DataFrame(rows, schema=_COLUMNS).filter(pl.col("label").is_not_null(), pl.col("time_us") > 0)
    return known.group_by(_KEY).agg(pl.median("time_us"), pl.first("low_us", "high_us")).select(*_COLUMNS)
