"""Generate a selection table from a campaign, and find the installed library for its files."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from timpani.campaign.folder.load import Campaign, load_one_machine
from timpani.campaign.read.context import machine_layouts
from timpani.errors import UserError
from timpani.judge.choose_rules import RuleLines, rule_line, select, warnings
from timpani.judge.raced import race_standings, raced_points, raced_results
from timpani.libraries.find import choose_mpi
from timpani.libraries.registry import LIBRARIES, library_title
from timpani.libraries.rules import library_rule
from timpani.native.mpi import Mpi
from timpani.slices import Hook
from timpani.study.cell import DEFAULT, OWN
from timpani.study.schema import MACHINE_CELL, POINT, schema, values_of
from timpani.study.selection import Rule, SelectionTable, SizesAt, Span, WrittenSetting
from timpani.study.words import counted

_WINNING: Hook[Callable[[Campaign], tuple[WrittenSetting | None, tuple[str, ...]]]] = Hook("WINNING_SETTINGS")


def setting_of(campaign: Campaign) -> tuple[WrittenSetting | None, tuple[str, ...]]:
    """The setting for whole programs that won (None: none wins), and why each other faster one is not written."""
    return next((winning(campaign) for winning in _WINNING.added()), (None, ()))


def setting_words(setting: WrittenSetting) -> str:
    """The setting and what it gained, as a sentence."""
    return (
        f"setting {setting.name} ({setting.settings}) for the whole program: significantly faster than the default at "
        f"{setting.faster} of {counted(setting.points, 'point')} and slower at none, {setting.gain:.2f} times as fast "
        "on average (geometric mean)"
    )


def load_together(folders: Sequence[Path]) -> Campaign:
    """The results and counted messages of the campaigns in `folders`, with the header of the first.

    A point that a race only sampled is dropped if another campaign measured it. UserError if the campaigns measured
    different libraries or machines, or if two campaigns measured the same cell.
    """
    first, *others = map(load_one_machine, folders)
    for other in others:
        for what, one, two in (
            ("MPI library", first.header.mpi.title, other.header.mpi.title),
            ("machine", first.header.machine.name, other.header.machine.name),
        ):
            if one != two:
                raise UserError(
                    f"{other.folder} was measured with {what} {two}, and {first.folder} with {one}",
                    "name campaigns of one library on one machine",
                )
    if not others:
        return first
    campaigns = (first, *others)
    results = pl.concat([raced_points(raced_results(each)).rows for each in campaigns], how="vertical_relaxed")
    for each in campaigns:
        sampled = each.results.join(results.select(POINT), on=POINT, how="anti", maintain_order="left")
        results = pl.concat([results, sampled], how="vertical_relaxed")
    twice = results.select(*MACHINE_CELL, "launch").is_duplicated()
    if twice.any():
        name, size = results.filter(twice).select("collective", "message_bytes").row(0)
        raise UserError(f"two of the campaigns measured {name} at {size} B", "name only one of them")
    return replace(
        first,
        results=results,
        proofs=[proof for each in campaigns for proof in each.proofs],
        planned=first.planned.union(*(each.planned for each in others)),
    )


def table_of(campaign: Campaign, folders: Sequence[Path]) -> SelectionTable:
    """Rules wherever an algorithm of the library or of Timpani is significantly faster than the default, and the
    setting of `setting_of`, in whose variant the rules then hold.

    folders  of the campaigns whose results `campaign` contains

    UserError if no default was measured, or if the results are imported averages.
    """
    setting, _ = setting_of(campaign)
    campaign = campaign.of_variant(setting.name if setting else DEFAULT)
    header, results = campaign.header, campaign.results
    if header.imported:
        raise UserError(
            f"{campaign.folder} has imported averages, which allow no test of significance",
            "measure: timpani run …, with 8 launches or more",
        )
    if DEFAULT not in results["algorithm"]:
        if {"all", DEFAULT} & {name for names in header.study.collectives.values() for name in names}:
            raise UserError(f"{campaign.folder} ended before it had measured the default", "give more time (--budget)")
        raise UserError(f"{campaign.folder} did not measure the default", "add `default` to --algorithms")
    layouts = machine_layouts(campaign)
    found = [select(raced_results(campaign), layouts, provider) for provider in (header.mpi.kind, OWN)]
    simulated = campaign.simulated
    machine = results["machine"][0]
    return SelectionTable(
        header.mpi.kind,
        header.mpi.version,
        tuple(rule for each in found for rule in each.rules),
        f"{campaign.folder.resolve().name} of {header.created[:10]} on {machine}{' (simulated)' if simulated else ''}",
        tuple(str(folder.resolve()) for folder in folders),
        tuple(dict.fromkeys(gap for each in found for gap in each.gaps)),
        _measured(results),
        simulated=simulated,
        sampled=_sizes_at(race_standings(raced_results(campaign)).filter(~pl.col("race_complete"))),
        unmeasured=_unmeasured(campaign),
        setting=setting,
    )


def check_made_from(table: SelectionTable, campaign: Campaign) -> None:
    """UserError if `campaign` measured another library than the library of `table`: the table is not made from it."""
    measured = campaign.header.mpi
    if (measured.kind, measured.version) != (table.library, table.version):
        raise UserError(
            f"{campaign.folder} was measured with {measured.title}, but the table is for "
            f"{library_title(table.library, table.version)}",
            "name the campaign from which it was made",
        )


def _measured(results: pl.DataFrame) -> dict[str, Span]:
    """The smallest and the largest measured size of each collective, in bytes."""
    sizes = results.group_by("collective").agg(first=pl.min("message_bytes"), last=pl.max("message_bytes"))
    return {collective: Span(first, last) for collective, first, last in sizes.sort("collective").iter_rows()}


def _unmeasured(campaign: Campaign) -> tuple[SizesAt, ...]:
    """The planned sizes without a time."""
    planned = pl.DataFrame(list(map(values_of, campaign.planned)), schema=schema(*POINT), orient="row")
    timed = campaign.results.filter(pl.col("error").is_null() & (pl.col("median_us") > 0))
    return _sizes_at(planned.join(timed, on=POINT, how="anti"))


def _sizes_at(points: pl.DataFrame) -> tuple[SizesAt, ...]:
    together = points.group_by("collective", "ranks").agg(pl.col("message_bytes").unique().sort())
    return tuple(sorted(SizesAt(name, ranks, tuple(sizes)) for name, ranks, sizes in together.iter_rows()))


def installed_library(campaign: Campaign, wanted: str | None) -> Mpi:
    """The library that `campaign` measured; UserError if it isn't installed, or if `wanted` names another."""
    measured = campaign.header.mpi
    if measured.kind not in LIBRARIES:
        raise UserError(
            f"{campaign.folder} was measured with {measured.title}, for which Timpani has no tuning files",
            "measure another library: timpani run …",
        )
    there = measured.mpirun if Path(measured.mpirun).exists() else measured.kind
    mpi = choose_mpi(wanted or there)
    if (mpi.kind, mpi.version) != (measured.kind, measured.version):
        raise UserError(
            f"{campaign.folder} was measured with {measured.title}, but {mpi} is another library",
            "name the measured library with --mpi: another version may number its algorithms differently",
        )
    return mpi


def library_lines(library: Mpi, rules: Sequence[Rule]) -> RuleLines:
    """The lines of rules for a library's algorithms."""
    catalogue = LIBRARIES[library.kind].algorithms.catalogue(library)
    named = [(rule, library_rule(library, catalogue, rule.collective, rule.algorithm)) for rule in rules]
    return RuleLines(
        [rule_line(rule, text) for rule, text in named if text is not None],
        warnings(rule for rule, text in named if text is not None),
        [rule for rule, text in named if text is None],
    )
