"""What `timpani tune` wrote, in Markdown and in a few lines."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from timpani.report.tuned.source_warnings import MadeFrom
from timpani.report.verdict.answer import brief_warnings, headline, more_warnings
from timpani.rules.table.table_file import TABLE_FILE
from timpani.rules.table.tuned_files import MODULE, PRELOAD_RULES, SWITCH_OFF, SWITCH_ON, TunedFiles
from timpani.stats.compare import ALPHA, INDIFFERENCE
from timpani.study.cell import OWN
from timpani.study.counted import counted, per_cent
from timpani.study.operations import OPERATIONS
from timpani.study.sizes import show_size
from timpani.tuning.decide.selection_table import SIMULATED, Evidence, Rule, SelectionTable, SizeGap, SizesAt, Span
from timpani.tuning.decide.spans import words
from timpani.tuning.race.between import LOOK_LAUNCHES, OTHERWISE

PAGE = "tuning.md"

_LEVEL = per_cent(1 - ALPHA)
_SIMULATED = f"{SIMULATED}: no real machine was timed, so measure before you rely on these rules"
_ABOUT_GAINS = "Gains are the default's time over the algorithm's, at each measured size of a rule."
_ABOUT_CHANCE = (
    "The same measurements picked the rules, so some gains are overstated by chance: `timpani confirm` measures anew."
)
_ABOUT_COST = "'Cost' is how much longer the rule takes than the best algorithm, at its worst size."
_ABOUT_LOOKS = (
    f"At these sizes of rules a race measured a few algorithms in few launches, mostly {LOOK_LAUNCHES}. No rule",
    f"reaches over such a size where its algorithm failed, seemed to take over {per_cent(OTHERWISE)} longer than",
    "another, or was shown slower than the default. Where it wasn't among the few, nothing is known of it.",
)
_ABOUT_UNMEASURED = (
    "Everything failed there, or the race did not come to it. A rule reaches over such a size where it holds at the",
    "measured ones on both sides.",
)
_ABOUT_PREDICTED = (
    "Nobody measured these rank counts. Schedules were simulated with what this campaign's calls cost; a rule stands",
    f"where even the lower end of its gain's {_LEVEL} interval is more than {per_cent(INDIFFERENCE[1] - 1)}. That end",
    "is for each point alone: of many points some are chosen wrongly. `timpani confirm` leaves these rules alone;",
    "measure before you rely on one.",
)
_HEAD_PREDICTED = (
    f"| collective | ranks | sizes | algorithm | predicted gain ({_LEVEL}) | cost |",
    "|---|---|---|---|---|---|",
)
_HEAD = (
    f"| collective | ranks | sizes | algorithm | gain ({_LEVEL}) | launches | cost |",
    "|---|---|---|---|---|---|---|",
)
_HEAD_SIMULATED = ("| collective | ranks | sizes | algorithm | gain | cost |", "|---|---|---|---|---|---|")


def tuned_lines(table: SelectionTable, files: TunedFiles, folder: Path, known: MadeFrom) -> Iterator[str]:
    """What was written, how to use it, and what to know of the campaigns."""
    where = shlex.quote(str(folder))
    yield from _predicted_lines(table, where)
    yield from _use(table, files, where, known)
    yield from brief_warnings(known.warnings)
    if more := more_warnings(known.warnings):
        yield f"{more}: {where}/{PAGE}"
    if table.simulated and (table.rules or files.preload_rules):
        yield _SIMULATED


def _use(table: SelectionTable, files: TunedFiles, where: str, known: MadeFrom) -> Iterator[str]:
    rules = table.for_files().rules
    if not table.rules:
        yield from known.without_rule()
        if not rules:
            return
    else:
        yield f"{where}/{TABLE_FILE}: {counted(len(table.rules), 'rule')}; {where}/{PAGE} says what each gains"
        yield headline(known.verdict)[0]
    for each in files.library:
        left = _left_out(len({left.rule for left in each.left_out})) if each.left_out else ""
        yield f"{where}/{each.format.name}: {each.format.title}, {counted(each.rules, 'rule')}{left}"
    if not files.settings and any(rule.algorithm.provider != OWN for rule in rules):
        yield "no file of the library can say its rules: nothing is there to switch on"
    if files.settings:
        yield f"switch it on: . {where}/{SWITCH_ON}, or `module load {where}/{MODULE}`; off: . {where}/{SWITCH_OFF}"
    if files.preload_rules:
        yield f"use ours: timpani preload --rules {where}/{PRELOAD_RULES} -- mpirun …"


def _left_out(rules: int) -> str:
    of = f"these {rules} rules" if rules > 1 else "one rule"
    return f"; the file format can't express every condition of {of}; {PAGE} lists what is missing"


def _predicted_lines(table: SelectionTable, where: str) -> Iterator[str]:
    """What is proposed beyond what was measured, if that was asked for."""
    predicted = table.predicted
    if predicted is None:
        return
    if predicted.rules:
        least, most = predicted.ranks[0], predicted.ranks[-1]
        used = "in the files, as was asked" if predicted.in_files else "in no file that a library reads"
        yield (
            f"{where}/{TABLE_FILE}: {counted(len(predicted.rules), 'rule')} predicted, not measured, for "
            f"{words(Span(least, most))} ranks; {used}"
        )
    else:
        yield "no rule is predicted: at no point is a gain over the default larger than the prediction may be off"
    if predicted.left_out:
        more = f", and {len(predicted.left_out) - 1} more in {where}/{PAGE}" if len(predicted.left_out) > 1 else ""
        yield f"not predicted: {predicted.left_out[0]}{more}"


def tuned_page(table: SelectionTable, files: TunedFiles, folder: Path, library: str, known: MadeFrom) -> str:
    """The page beside the files."""
    return "\n".join([*_page(table, files, folder, library, known), ""])


def _page(table: SelectionTable, files: TunedFiles, folder: Path, library: str, known: MadeFrom) -> Iterator[str]:
    yield from (f"# Which algorithm where: {library} {table.version}", "")
    if table.simulated:
        yield from (f"**{_SIMULATED[0].upper()}{_SIMULATED[1:]}.**", "")
    made = "Simulated" if table.simulated else "Measured"
    yield from (f"{made}: {table.source}. Where no rule applies the library chooses as before.", "")
    if known.warnings:
        yield from ("## Before you believe it", "", *(f"- {warning}" for warning in known.warnings), "")
    yield from _rules(table, known)
    if files.settings:
        yield from ("## Switch it on", "", f"In a shell, `. {shlex.quote(str(folder / SWITCH_ON))}`; or by a module,")
        yield from (f"`{MODULE}`; or in the library's own settings. `{SWITCH_OFF}` undoes the first.", "", "```")
        yield from (f"{name}={value}" for name, value in files.settings.items())
        yield from ("```", "")
    if files.preload_rules:
        yield from ("Rules with algorithms of Timpani's own need its library loaded before the program:", "", "```")
        yield from (f"timpani preload --rules {shlex.quote(str(folder / PRELOAD_RULES))} -- mpirun …", "```", "")
    left_out = [(each.format.title, left) for each in files.library for left in each.left_out]
    if left_out:
        yield from ("## What the files can't say", "")
        yield from (f"- {title}: {_where(left.rule)}, {left.rule.algorithm}: {left.why}" for title, left in left_out)
        yield ""
    yield from _predicted(table)
    yield from _unsure(table)
    if table.gaps:
        yield from ("## Where the choice changes", "", "Between these sizes nothing was measured:", "")
        yield from (
            f"- {gap.collective}, {counted(gap.ranks, 'rank')} on {counted(gap.nodes, 'node')}: "
            f"{show_size(gap.before)} and {show_size(gap.after)}; between them {_between(table, gap)}"
            for gap in table.gaps
        )
        yield ""


def _unsure(table: SelectionTable) -> Iterator[str]:
    """Which sizes of rules a race only looked at, and what was asked for and has no time."""
    looked_at = [(each, inside) for each in table.looked_at if (inside := _within_rules(table, each))]
    if looked_at:
        yield from ("## Looked at, not measured like the others", "", *_ABOUT_LOOKS, "")
        yield from (f"- {each.collective}, {counted(each.ranks, 'rank')}: {inside}" for each, inside in looked_at)
        yield ""
    if table.unmeasured:
        yield from ("## Asked for, and without any time", "", *_ABOUT_UNMEASURED, "")
        for each in table.unmeasured:
            sizes = f": {_listed(each.sizes)}" if OPERATIONS[each.collective].sized else ""
            yield f"- {each.collective}, {counted(each.ranks, 'rank')}{sizes}"
        yield ""


def _within_rules(table: SelectionTable, looked_at: SizesAt) -> str:
    """Those of the sizes that rules are for, each rule's algorithm behind its own."""
    found = (
        (rule.algorithm, [size for size in looked_at.sizes if size in rule.sizes])
        for rule in table.of([looked_at.collective])
        if looked_at.ranks in rule.ranks
    )
    return "; ".join(f"{_listed(sizes)} ({algorithm})" for algorithm, sizes in found if sizes)


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(show_size, sizes))


def _between(table: SelectionTable, gap: SizeGap) -> str:
    """What holds between the sizes of a gap."""
    held = (
        rule.algorithm
        for rule in table.of([gap.collective])
        if gap.before + 1 in rule.sizes and gap.ranks in rule.ranks and gap.nodes in rule.nodes
    )
    return ", ".join(map(str, held)) or "the library chooses"


def _rules(table: SelectionTable, known: MadeFrom) -> Iterator[str]:
    if not table.rules:
        yield from (
            "## Rules",
            "",
            *(f"{line[0].upper()}{line[1:]}".rstrip(".") + "." for line in known.without_rule()),
            "",
        )
        return
    yield from ("## Rules", "", headline(known.verdict)[0], "", _ABOUT_GAINS)
    if table.simulated:
        yield from (_ABOUT_COST, "", *_HEAD_SIMULATED)
    else:
        yield from (_ABOUT_CHANCE, _ABOUT_COST, "", *_HEAD)
    for rule in table.rules:
        launches = {each.launches for each in rule.evidence}
        over = "" if table.simulated else f" {words(Span(min(launches), max(launches)))} |"
        yield f"{_row(rule)}{over} {100 * rule.cost:.1f} % |"
    yield ""
    if any(rule.algorithm.provider == OWN for rule in table.rules):
        yield from ("`timpani/…` are Timpani's own algorithms, which the library doesn't have.", "")


def _predicted(table: SelectionTable) -> Iterator[str]:
    predicted = table.predicted
    if predicted is None:
        return
    yield from ("## Predicted, not measured", "", *_ABOUT_PREDICTED, "")
    yield from (f"- {text}" for text in predicted.conditions)
    yield ""
    if predicted.rules:
        used = "They are in the files that libraries read, as was asked for."
        unused = "They are in no file that a library reads: `timpani tune … --with-predicted` puts them there."
        yield from (used if predicted.in_files else unused, "", *_HEAD_PREDICTED)
        yield from (f"{_row(rule)} {100 * rule.cost:.1f} % |" for rule in predicted.rules)
    else:
        yield "No gain over the default is larger than the prediction may be off: there is no rule."
    yield ""
    if predicted.left_out:
        yield from ("Not predicted:", "", *(f"- {text}" for text in predicted.left_out), "")


def _row(rule: Rule) -> str:
    """What the rows of all rules begin with."""
    return (
        f"| {rule.collective} | {words(rule.ranks)} on {words(rule.nodes)} "
        f"{'node' if rule.nodes.last == 1 else 'nodes'} | {_sizes(rule)} | {rule.algorithm} | {_gains(rule.evidence)} |"
    )


def _where(rule: Rule) -> str:
    return f"{rule.collective}, {words(rule.ranks)} ranks, {_sizes(rule)}"


def _sizes(rule: Rule) -> str:
    if not OPERATIONS[rule.collective].sized:
        return "–"
    first, last = rule.sizes.first, rule.sizes.last
    if last is None:
        return f"{show_size(first)} and more"
    return show_size(first) if first == last else f"{show_size(first)} to {show_size(last)}"


def _gains(evidence: tuple[Evidence, ...]) -> str:
    """The smallest gain and the largest, each with its interval."""
    least, most = min(evidence, key=lambda each: each.gain), max(evidence, key=lambda each: each.gain)
    return _gain(least) if least == most else f"{_gain(least)} to {_gain(most)}"


def _gain(each: Evidence) -> str:
    bounds = [f"{bound:.2f}" for bound in (each.gain_low, each.gain_high) if bound is not None]
    return f"{each.gain:.2f} ({'–'.join(bounds)})" if len(bounds) == 2 else f"{each.gain:.2f}"
