"""What a choice does to a program, in sentences."""

from collections import Counter
from collections.abc import Iterator, Sequence

from timpani.programs.runs.block_runs import AS_IT_IS, CHOSEN, ProgramComparison
from timpani.stats.compare import ALPHA, BlockComparison
from timpani.study.defaults import MIN_BLOCKS
from timpani.study.selection import SelectionTable
from timpani.study.words import counted, per_cent

_WORDS = {
    "faster": "faster",
    "slower": "SLOWER",
    "tie": "not significantly faster or slower",
    "undecided": "not yet known to be faster or slower",
}


def comparison_lines(found: ProgramComparison) -> Iterator[str]:
    """The verdict on the whole program, then on its time in collectives, then on its output."""
    before, after = found.median_seconds[AS_IT_IS], found.median_seconds[CHOSEN]
    yield (
        f"the program is {_WORDS[found.wall.standing]} with the choice: {ratio_words(found.wall)}, "
        f"medians {before:.3f} s and {after:.3f} s"
    )
    if found.collectives:
        before, after = found.median_collective_seconds[AS_IT_IS], found.median_collective_seconds[CHOSEN]
        yield (
            f"its collectives are {_WORDS[found.collectives.standing]}: {ratio_words(found.collectives)}, "
            f"medians {before:.3f} s and {after:.3f} s of a rank"
        )
    else:
        yield "it called no blocking collective"
    if found.different_outputs:
        first, *others = found.different_outputs
        for run in others:
            yield (
                f"the output of block {run.block} {run.side} differs from the first: compare {first.kept_output} and "
                f"{run.kept_output}"
            )


def ratio_words(compared: BlockComparison) -> str:
    """The ratio with its interval, if there are enough blocks for one."""
    blocks = counted(compared.blocks, "block")
    level = per_cent(1 - ALPHA)
    known = f"{level} interval {compared.low:.3f} to {compared.high:.3f}, {blocks}"
    few = f"{blocks}, too few: a verdict takes {MIN_BLOCKS}"
    return f"{compared.ratio:.3f} × as fast ({few if compared.standing == 'undecided' else known})"


def taken_out_lines(table: SelectionTable, slower: Sequence[str], found: ProgramComparison) -> Iterator[str]:
    """Which rules of `table` are taken out: those of the `slower` collectives, or all."""
    rules = Counter(rule.collective for rule in table.for_files().rules)
    for name in slower:
        alone = ratio_words(found.by_collective[name])
        yield f"taken out: {counted(rules[name], 'rule')} for {name}, which is SLOWER without waiting: {alone}"
    if not slower:
        setting = f" and the setting {table.setting.name}" if table.setting else ""
        yield (
            f"taken out: {counted(rules.total(), 'rule')}{setting}, all that were switched on: no collective with a "
            "rule is significantly slower without waiting"
        )
