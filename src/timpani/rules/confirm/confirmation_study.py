"""What is measured anew to confirm a table: its rules at their edges, at measured sizes, and at sizes held out."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.context import rank_layouts
from timpani.errors import UserError
from timpani.rules.table.tuned_files import EXPORTS, OUR_RULES
from timpani.study.cell import DEFAULT, OWN, RULES, TUNED, Algorithm, Cell
from timpani.study.defaults import LAUNCHES
from timpani.study.operations import OPERATIONS
from timpani.study.schema import POINT, without
from timpani.study.study import Study
from timpani.tuning.decide.points import launch_medians
from timpani.tuning.decide.selection_table import Call, Rule, SelectionTable

NEAR = 1.1
"""Algorithms that took at most this many times the best one's time somewhere may be the best elsewhere."""

_SEED_STEP = 1_000_003  # so that no launch has the order of one that chose the rules


def confirmation_study(
    table: SelectionTable, campaign: Campaign, folder: Path, launches: int | None, placement: str | None = None
) -> Study:
    """The study that confirms `table`, made from `campaign` and written into `folder`; `placement` None: as measured.

    Each collective with a rule, at the measured sizes, at those `held_out`, and at each rule's first and last size and
    one element beyond; the default, the rules' algorithms, all that came near the best, and the files themselves.
    UserError where the table has no rule, or was made from simulated times.
    """
    if table.simulated:
        raise UserError(f"{folder} has simulated rules", "a simulation would repeat itself: measure on a real machine")
    if not table.rules and table.predicted and table.predicted.rules:
        raise UserError(f"{folder} has predicted rules alone", "to confirm them, measure at their rank counts")
    if not table.rules:
        raise UserError(f"{folder} has no rule to confirm", f"{folder / 'tuning.md'} says why there is none")
    recorded = campaign.header.recorded["study"]
    collectives = list(dict.fromkeys(rule.collective for rule in table.rules))
    of_library, ours = ((folder / name).exists() for name in (EXPORTS, OUR_RULES))
    if not of_library and not ours:
        raise UserError(f"{folder} has no file to switch on", "its table has rules that no file of the library can say")
    measured = campaign.results.filter(pl.col("collective").is_in(collectives))
    sizes = {name: sorted(set(_sizes(name, table.of([name]), campaign))) for name in collectives}
    algorithms = {
        name: tuple(
            dict.fromkeys((*algorithms_near(name, measured), *(str(rule.algorithm) for rule in table.of([name]))))
        )
        for name in collectives
    }
    overrides = recorded.get("overrides") or {}
    return Study.check(
        {
            **recorded,
            "title": f"Confirmation of {folder.name}",
            "collectives": algorithms,
            "overrides": {name: {**(overrides.get(name) or {}), "sizes": sizes[name]} for name in collectives},
            **({} if placement is None else {"placement": placement}),
            "budget": None,
            "regret": None,  # what is confirmed is measured in all launches, also where a race chose it
            "launches": launches or (LAUNCHES if recorded.get("regret") else max(recorded["launches"], LAUNCHES)),
            "seed": (recorded["seed"] + _SEED_STEP) % 2**31,
            "tuned": str(folder.resolve()) if of_library else None,
            "rules": str((folder / OUR_RULES).resolve()) if ours else None,
        },
        f"the confirmation of {folder}",
    )


def cells_to_prove(table: SelectionTable, campaign: Campaign) -> Callable[[Cell], bool]:
    """Which cells' messages show whether files are followed: at sizes with a rule and one element beside them, those of
    the rule's algorithm, of the default, and of the library with its files."""
    layouts = rank_layouts(campaign)
    chosen = {rule.algorithm for rule in table.rules}

    def wanted(cell: Cell) -> bool:
        layout = layouts.get((cell.ranks, cell.placement))
        if layout is None:  # another placement: what the rules choose there is known once it is measured
            return cell.algorithm.name in (DEFAULT, TUNED, RULES) or cell.algorithm in chosen
        call = Call(cell.collective, cell.ranks, layout.nodes, layout.per_node, cell.message_bytes)
        element = campaign.header.study.element_bytes_of(cell.collective)
        near = [replace(call, message_bytes=call.message_bytes + off) for off in (-element, 0, element)]
        if not any(map(table.decide, near)):
            return False
        choices = [part.decide(call) for part, _ in parts_by_file(table)]
        return cell.algorithm.name in (DEFAULT, TUNED, RULES) or cell.algorithm in choices

    return wanted


def parts_by_file(table: SelectionTable) -> Iterator[tuple[SelectionTable, Algorithm]]:
    """The rules of the library's files, and ours, which may be for the same calls; each with what follows them."""
    for file in (Algorithm(table.library, TUNED), Algorithm(OWN, RULES)):
        rules = tuple(rule for rule in table.rules if (rule.algorithm.provider == OWN) == (file.provider == OWN))
        if rules:
            yield replace(table, rules=rules), file


def held_out(collective: str, campaign: Campaign) -> set[int]:
    """Sizes at which nothing was measured to make the table: a third of the way, geometrically, from each size that was
    asked for to the next. They don't depend on what was found, so that regret at them is regret at any size."""
    if not OPERATIONS[collective].sized:
        return set()
    study = campaign.header.study
    own = (campaign.header.recorded["study"].get("overrides") or {}).get(collective) or {}
    asked = sorted(set(own.get("sizes") or study.sizes))
    element = study.element_bytes_of(collective)
    found = {_whole(max(1, before) ** (2 / 3) * after ** (1 / 3), element) for before, after in pairwise(asked)}
    return found - set(campaign.results.filter(pl.col("collective") == collective)["message_bytes"])


def _sizes(collective: str, rules: tuple[Rule, ...], campaign: Campaign) -> Iterator[int]:
    element = campaign.header.study.element_bytes_of(collective)
    yield from campaign.results.filter(pl.col("collective") == collective)["message_bytes"]
    yield from held_out(collective, campaign)
    if not OPERATIONS[collective].sized:
        return
    for rule in rules:
        first, last = rule.sizes.first, rule.sizes.last
        yield from (size for size in (first - element, first) if size >= element)
        if last is not None:
            yield from (last // element * element, last // element * element + element)


def _whole(size: float, element: int) -> int:
    """The nearest size of whole elements, one at least."""
    return max(1, round(size / element)) * element


def algorithms_near(collective: str, measured: pl.DataFrame) -> tuple[str, ...]:
    """The default and all algorithms of `collective` that came near the best somewhere, as they are typed."""
    medians = launch_medians(measured.filter(pl.col("collective") == collective)).filter(pl.col("algorithm") != DEFAULT)
    near = medians.filter(pl.col("time_us") <= NEAR * pl.col("time_us").min().over(without(POINT, "collective")))
    found = {
        f"{provider}/{name}" + (f":{parameters}" if parameters else ""): None
        for provider, name, parameters in near.select("provider", "algorithm", "parameters").iter_rows()
    }
    return (DEFAULT, *found)
