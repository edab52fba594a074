"""Which rules of a tuned folder made a program slower."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from timpani.programs.runs.block_runs import ProgramComparison
from timpani.stats.compare import ALPHA, INDIFFERENCE, holm
from timpani.study.selection import Rule, SelectionTable


def slower_collectives(found: ProgramComparison, table: SelectionTable) -> list[str]:
    """The collectives with a rule that take significantly longer with the choice, and not practically the same time.

    Holm's correction is for all of them. Waiting for late ranks does not count: a slow collective makes ranks late for
    the next one.
    """
    names = sorted({rule.collective for rule in table.for_files().rules} & found.by_collective.keys())
    compared = [found.by_collective[name] for name in names]
    adjusted, _ = holm(np.array([each.p_value for each in compared]))
    return [
        name
        for name, each, p_value in zip(names, compared, adjusted, strict=True)
        if each.high < INDIFFERENCE[0] and p_value <= ALPHA
    ]


def without_slower(table: SelectionTable, slower: Iterable[str]) -> SelectionTable:
    """`table` without the rules of the `slower` collectives; without any rule or setting if no collective is slower.

    Then the cause may be the setting, a file that also changes calls without a rule, or several
    small losses.
    """
    names = set(slower)

    def kept(rules: Iterable[Rule]) -> tuple[Rule, ...]:
        return tuple(rule for rule in rules if names and rule.collective not in names)

    predicted = table.predicted
    if predicted and predicted.in_files:
        predicted = replace(predicted, rules=kept(predicted.rules))
    return replace(table, rules=kept(table.rules), predicted=predicted, setting=table.setting if names else None)
