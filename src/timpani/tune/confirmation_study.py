"""The study that confirms a table: at the measured sizes, at the boundaries of its rules, and at test sizes."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from math import sqrt
from pathlib import Path

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.plan.plan import CampaignPlan
from timpani.campaign.read.context import rank_layouts
from timpani.errors import UserError
from timpani.judge.points import launch_medians
from timpani.libraries.registry import LIBRARIES
from timpani.study.cell import DEFAULT, OWN, RULES, TUNED, Algorithm, Cell, under_files
from timpani.study.defaults import LAUNCHES
from timpani.study.operations import OPERATIONS
from timpani.study.point_weights import Point
from timpani.study.schema import POINT, without
from timpani.study.selection import Call, Rule, SelectionTable, SizeGap
from timpani.study.study import Study
from timpani.tune.tuned_files import PRELOAD_RULES

MAX_RATIO_TO_BEST = 1.1
"""An algorithm is measured again if it was within this factor of the best at one point: it may be best elsewhere."""

_SEED_STEP = 1_000_003  # gives every launch another order than in the campaign that chose the rules


def confirmation_study(
    table: SelectionTable, campaign: Campaign, folder: Path, launches: int | None, placement: str | None = None
) -> Study:
    """The study that confirms `table`, made from `campaign` and written into `folder`; `placement` None: as measured.

    It measures each collective that has a rule, or all of them for a table with a setting alone:
    - sizes: those of `campaign`; unless it is a program's, also the `test_sizes`, and each rule's first and last size
      and one element beyond;
    - algorithms: the default, the rules' choices, all that came near the best, and the library with its files.

    A setting is a variant of the study, so that blocks measure it alone, the rules alone, and both.

    UserError if the table has neither a rule nor a setting, or was made from simulated times.
    """
    if table.simulated:
        raise UserError(f"{folder} has simulated rules", "measure on a real machine: simulated times don't vary")
    if table.is_empty and table.predicted and table.predicted.rules:
        raise UserError(f"{folder} has only predicted rules", "to confirm them, measure at their rank counts")
    if table.is_empty:
        raise UserError(f"{folder} has no rule to confirm", f"{folder / 'tuning.md'} gives the reason")
    recorded = campaign.header.recorded["study"]
    ruled = [rule.collective for rule in table.rules] or recorded["collectives"]
    collectives = list(dict.fromkeys(ruled))
    has_library_files = any((folder / each.name).exists() for each in LIBRARIES[table.library].files.tuning)
    has_preload_rules = (folder / PRELOAD_RULES).exists()
    if not has_library_files and not has_preload_rules and table.setting is None:
        raise UserError(
            f"{folder} has no file to switch on", "the library's file formats can't express the rules of its table"
        )
    measured = campaign.results.filter(pl.col("collective").is_in(collectives))
    sizes = {name: sorted(set(_sizes(name, table.rules_for([name]), campaign))) for name in collectives}
    algorithms = {
        name: tuple(
            dict.fromkeys(
                (*near_best_algorithms(name, measured), *(str(rule.algorithm) for rule in table.rules_for([name])))
            )
        )
        if table.rules
        else (DEFAULT,)
        for name in collectives
    }
    overrides = recorded.get("overrides") or {}
    return Study.check(
        {
            **recorded,
            "title": f"Confirmation of {folder.name}",
            "variants": {table.setting.name: table.setting.settings} if table.setting else {},
            "collectives": algorithms,
            "overrides": {name: {**(overrides.get(name) or {}), "sizes": sizes[name]} for name in collectives},
            **({} if placement is None else {"placement": placement}),
            "budget": None,
            "weights": (),
            "regret": None,  # a confirmation is no race: every launch measures every cell
            "launches": launches or (LAUNCHES if recorded.get("regret") else max(recorded["launches"], LAUNCHES)),
            "seed": (recorded["seed"] + _SEED_STEP) % 2**31,
            "tuned": str(folder.resolve()) if has_library_files else None,
            "rules": str((folder / PRELOAD_RULES).resolve()) if has_preload_rules else None,
        },
        f"the confirmation of {folder}",
    )


def cells_to_prove(table: SelectionTable, campaign: Campaign) -> Callable[[Cell], bool]:
    """A predicate: cells whose messages show whether the library follows its files.

    It accepts sizes with a rule and one element below or above. There it accepts the rule's algorithm, the default, and
    the library with its files.
    """
    layouts = rank_layouts(campaign)
    chosen = {rule.algorithm for rule in table.rules}

    def wanted(cell: Cell) -> bool:
        if cell.algorithm.variant != table.variant:
            return False
        cell = replace(cell, algorithm=replace(cell.algorithm, variant=DEFAULT))
        layout = layouts.get((cell.ranks, cell.placement))
        if layout is None:  # another placement, whose layout is unknown before it is measured
            return cell.algorithm.name in (DEFAULT, TUNED, RULES) or cell.algorithm in chosen
        call = Call(cell.collective, cell.ranks, layout.nodes, layout.per_node, cell.message_bytes)
        element = campaign.header.study.element_bytes_of(cell.collective)
        near = [replace(call, message_bytes=call.message_bytes + off) for off in (-element, 0, element)]
        if not any(map(table.decide, near)):
            return False
        choices = [part.decide(call) for part, _ in parts_by_file(table)]
        return cell.algorithm.name in (DEFAULT, TUNED, RULES) or cell.algorithm in choices

    return wanted


def placed_as_measured(plan: CampaignPlan, campaign: Campaign) -> CampaignPlan:
    """The `plan` with only the rank counts of each placement that `campaign` measured: a program places each count of
    ranks in its own way."""
    measured = set(campaign.results.select("ranks", "placement").iter_rows())
    return plan.restricted_to(lambda cell: (cell.ranks, cell.placement) in measured)


def rules_first(plan: CampaignPlan, table: SelectionTable, campaign: Campaign, rules_only: bool) -> CampaignPlan:
    """The `plan` of a confirmation whose budget is spent on the sizes of rules before others.

    rules_only  leave out the algorithms that no rule names, and the `test_sizes` at which the rules are compared with
                these
    """
    to_prove = cells_to_prove(table, campaign)
    followed = (DEFAULT, TUNED, RULES)
    ruled = {each.cell for each in plan.cells if to_prove(each.cell) and each.cell.algorithm.name not in followed}
    plan = replace(plan, first={Point.from_cell(cell) for cell in ruled})
    if not rules_only:
        return plan
    tests = {name: test_sizes(name, campaign) for name in {each.cell.collective for each in plan.cells}}

    ruled |= {replace(cell, algorithm=under_files(cell.algorithm)) for cell in ruled}

    def wanted(cell: Cell) -> bool:
        of_test = cell.message_bytes in tests.get(cell.collective, ())
        return not of_test and (cell.algorithm.name in followed or cell in ruled)

    return plan.restricted_to(wanted)


def parts_by_file(table: SelectionTable) -> Iterator[tuple[SelectionTable, Algorithm]]:
    """The table split by file, each part with the call that follows it: the library's rules, and Timpani's.

    Both parts may have rules for the same calls.
    """
    for file in (Algorithm(table.library, TUNED), Algorithm(OWN, RULES)):
        rules = tuple(rule for rule in table.rules if (rule.algorithm.provider == OWN) == (file.provider == OWN))
        if rules:
            yield replace(table, rules=rules), file


def test_sizes(collective: str, campaign: Campaign) -> set[int]:
    """Test sizes: one third of the way, on a logarithmic scale, between consecutive sizes of the study.

    Nothing was measured there to generate the table. The choice of these sizes does not depend on results, so that
    their mean regret estimates the regret at any size.
    """
    if not OPERATIONS[collective].sized:
        return set()
    study = campaign.header.study
    own = (campaign.header.recorded["study"].get("overrides") or {}).get(collective) or {}
    asked = sorted(set(own.get("sizes") or study.sizes))
    element = study.element_bytes_of(collective)
    found = {
        _whole_elements(max(1, before) ** (2 / 3) * after ** (1 / 3), element) for before, after in pairwise(asked)
    }
    return found - set(campaign.results.filter(pl.col("collective") == collective)["message_bytes"])


def _sizes(collective: str, rules: tuple[Rule, ...], campaign: Campaign) -> Iterator[int]:
    element = campaign.header.study.element_bytes_of(collective)
    yield from campaign.results.filter(pl.col("collective") == collective)["message_bytes"]
    if not OPERATIONS[collective].sized or campaign.header.recorded["study"].get("weights"):
        return
    yield from test_sizes(collective, campaign)
    for rule in rules:
        first, last = rule.sizes.first, rule.sizes.last
        yield from (size for size in (first - element, first) if size >= element)
        if last is not None:
            yield from (last // element * element, last // element * element + element)


def _whole_elements(size: float, element: int) -> int:
    """The nearest size of whole elements, at least one."""
    return max(1, round(size / element)) * element


def near_best_algorithms(collective: str, measured: pl.DataFrame) -> tuple[str, ...]:
    """The default and all algorithms of `collective` within MAX_RATIO_TO_BEST of the best at one point, as typed."""
    medians = launch_medians(measured.filter(pl.col("collective") == collective)).filter(pl.col("algorithm") != DEFAULT)
    near = medians.filter(
        pl.col("time_us") <= MAX_RATIO_TO_BEST * pl.col("time_us").min().over(without(POINT, "collective"))
    )
    found = {
        f"{provider}/{name}" + (f":{parameters}" if parameters else ""): None
        for provider, name, parameters in near.select("provider", "algorithm", "parameters").iter_rows()
    }
    return (DEFAULT, *found)


MAX_SIZE_RATIO = 1.26
"""A boundary is not refined further if the sizes on both sides differ by at most this factor, the cube root of 2."""


def refining_study(gaps: Iterable[SizeGap], measured: Campaign) -> Study | None:
    """The study that halves each wide gap on a logarithmic scale; None if no gap is wide, or `measured` is a program's.

    It measures the default and all algorithms that came near the best at one point, under the conditions of `measured`.
    After a race only few algorithms remain, so all of them are measured in a fixed number of launches.
    """
    recorded = measured.header.recorded["study"]
    if recorded.get("weights"):  # the program's smallest and largest calls were measured, and rules end there
        return None
    sizes: dict[str, set[int]] = {}
    for gap in gaps:
        element = measured.header.study.element_bytes_of(gap.collective)
        between = _middle(gap, element)
        if between is not None:
            sizes.setdefault(gap.collective, set()).add(between)
    if not sizes:
        return None
    overrides = recorded.get("overrides") or {}
    return Study.check(
        {
            **recorded,
            **({} if recorded.get("regret") is None else {"regret": None, "launches": LAUNCHES}),
            "budget": None,
            "weights": (),
            "title": "Sizes at which the choice changes",
            "collectives": {name: near_best_algorithms(name, measured.results) for name in sizes},
            "overrides": {name: {**(overrides.get(name) or {}), "sizes": sorted(new)} for name, new in sizes.items()},
        },
        "the study that refines boundaries",
    )


def _middle(gap: SizeGap, element: int) -> int | None:
    """The size of whole elements nearest to the middle; None if the gap is narrow or contains no such size."""
    if gap.after <= MAX_SIZE_RATIO * max(1, gap.before):
        return None
    middle = round(sqrt(max(1, gap.before) * gap.after) / element) * element
    return middle if gap.before < middle < gap.after else None
