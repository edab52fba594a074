"""The results of `timpani tune`: a page, and a summary of a few lines."""

import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from timpani.judge.raced import MIN_EXCESS, SAMPLE_LAUNCHES
from timpani.report.document.blocks import Block, Bullets, Document, Heading, NextCommand, Sentence, Table, Value, rows
from timpani.report.verdict.answer import MAX_BRIEF, answer_sentence, brief_warnings, more_warnings
from timpani.stats.compare import ALPHA, INDIFFERENCE
from timpani.study.cell import OWN
from timpani.study.operations import is_sized
from timpani.study.selection import (
    SIMULATED,
    Evidence,
    Rule,
    SelectionTable,
    SizeGap,
    SizesAt,
    Span,
    change_of_order,
    show_span,
)
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent
from timpani.tune.from_campaign import setting_words
from timpani.tune.source_warnings import MadeFrom
from timpani.tune.table_file import TABLE_FILE
from timpani.tune.tuned_files import MODULE, PRELOAD_RULES, SWITCH_OFF, SWITCH_ON, TunedFiles

PAGE = "tuning.md"

_LEVEL = per_cent(1 - ALPHA)
_SIMULATED = f"{SIMULATED}: no real machine was timed, so measure before you rely on these rules"
_ABOUT_GAINS = "Gains are the default's time over the algorithm's, at each measured size of a rule."
_ABOUT_CHANCE = (
    "The same measurements picked the rules, so some gains are overstated by chance: `timpani confirm` measures again."
)
_ABOUT_COST = "'Cost' is how much longer the rule takes than the best algorithm, at its worst size."
_ABOUT_SAMPLES = (
    f"At these sizes of rules a race only sampled a few algorithms, mostly in {SAMPLE_LAUNCHES} launches. A rule ends "
    "before such a size if its algorithm failed there, was significantly slower than the default, or was "
    f"over {per_cent(MIN_EXCESS)} slower than another in the sample. Algorithms outside the sample are untested there."
)
_ABOUT_UNMEASURED = (
    "All launches failed there, or the race ended before. A rule includes such a size if it applies to the measured "
    "sizes on both sides."
)
_ABOUT_PREDICTED = (
    "These rank counts were not measured. Schedules were simulated with the costs of this campaign's calls. There is "
    f"a rule if the lower end of its gain's {_LEVEL} interval exceeds {per_cent(INDIFFERENCE[1] - 1)}. The interval "
    "is not corrected for the number of points, so some of many rules are wrong. `timpani confirm` does not confirm "
    "these rules: measure before you rely on one."
)
_ABOUT_SETTING = "Rules were measured with this setting. Their gains are relative to the library's choice with it."


def tuned_lines(table: SelectionTable, files: TunedFiles, folder: Path, known: MadeFrom) -> Iterator[str]:
    """The written files, how to use them, and warnings of the campaigns."""
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
    if table.setting:
        yield setting_words(table.setting)
    if not table.rules:
        yield from () if table.setting else known.without_rule()
        if not rules and table.setting is None:
            return
    else:
        yield f"{where}/{TABLE_FILE}: {counted(len(table.rules), 'rule')}; {where}/{PAGE} lists the gains"
        yield answer_sentence(known.verdict)
    for each in files.library:
        left = _left_out(len({left.rule for left in each.left_out})) if each.left_out else ""
        yield f"{where}/{each.format.name}: {each.format.title}, {counted(each.rules, 'rule')}{left}"
    if not files.settings and any(rule.algorithm.provider != OWN for rule in rules):
        yield "the library's file formats can't express its rules: there is nothing to switch on"
    if files.settings:
        module = f"module use {where}; module load {MODULE}"  # Lmod loads none by its path
        yield f"switch it on: . {where}/{SWITCH_ON}, or `{module}`; off: . {where}/{SWITCH_OFF}"
    if files.preload_rules:
        yield f"use Timpani's algorithms: timpani preload --rules {where}/{PRELOAD_RULES} -- mpirun …"


def _left_out(rules: int) -> str:
    return f"; {PAGE} lists the conditions of {counted(rules, 'rule')} that the format can't express"


def _predicted_lines(table: SelectionTable, where: str) -> Iterator[str]:
    """The predicted rules, if the user asked for them."""
    predicted = table.predicted
    if predicted is None:
        return
    if predicted.rules:
        least, most = predicted.ranks[0], predicted.ranks[-1]
        used = "in the files, as requested" if predicted.in_files else "in no file that a library reads"
        yield (
            f"{where}/{TABLE_FILE}: {counted(len(predicted.rules), 'rule')} predicted, not measured, for "
            f"{show_span(Span(least, most))} ranks; {used}"
        )
    else:
        yield "no rule is predicted: no predicted gain over the default exceeds the error of the prediction"
    if predicted.left_out:
        more = f", and {len(predicted.left_out) - 1} more in {where}/{PAGE}" if len(predicted.left_out) > 1 else ""
        yield f"not predicted: {predicted.left_out[0]}{more}"


def tuned_document(table: SelectionTable, files: TunedFiles, folder: Path, library: str, known: MadeFrom) -> Document:
    """The page next to the files."""
    blocks = tuple(_blocks(table, files, folder, known))
    return Document(f"Which algorithm where: {library} {table.version}", blocks)


def _blocks(table: SelectionTable, files: TunedFiles, folder: Path, known: MadeFrom) -> Iterator[Block]:
    if table.simulated:
        yield Sentence("simulated", f"**{_SIMULATED[0].upper()}{_SIMULATED[1:]}.**")
    made = "Simulated" if table.simulated else "Measured"
    answer = [answer_sentence(known.verdict)] if table.rules else list(map(_as_sentence, known.without_rule()))
    yield from (Sentence("answer", line) for line in answer)
    yield Sentence("source", f"{made}: {table.source}. Where no rule applies the library chooses as before.")
    if table.setting:
        yield Heading("setting", "Setting")
        yield Sentence("setting", f"{_as_sentence(setting_words(table.setting))} {_ABOUT_SETTING}")
    if table.rules:
        yield from _rules(table)
    yield from _switch_on(files, folder)
    yield from _listed_under("caveats", "Before you believe it", known.warnings[:MAX_BRIEF])
    left_out = [(each.format.title, left) for each in files.library for left in each.left_out]
    yield from _listed_under(
        "left_out",
        "Conditions that the files can't express",
        [f"{title}: {_rule_conditions(left.rule)}, {left.rule.algorithm}: {left.why}" for title, left in left_out],
    )
    yield from _predicted(table)
    sampled = [(each, inside) for each in table.sampled if (inside := _within_rules(table, each))]
    yield from _listed_under(
        "sampled",
        "Only sampled",
        [f"{each.collective}, {counted(each.ranks, 'rank')}: {inside}" for each, inside in sampled],
        _ABOUT_SAMPLES,
    )
    yield from _listed_under(
        "unmeasured",
        "Requested, but without a time",
        [
            f"{each.collective}, {counted(each.ranks, 'rank')}"
            + (f": {_listed(each.sizes)}" if is_sized(each.collective) else "")
            for each in table.unmeasured
        ],
        _ABOUT_UNMEASURED,
    )
    gaps = [
        f"{gap.collective}, {counted(gap.ranks, 'rank')} on {counted(gap.nodes, 'node')}: "
        f"{show_size(gap.before)} and {show_size(gap.after)}; between them {_algorithms_in_gap(table, gap)}"
        for gap in table.gaps
    ]
    yield from _listed_under("gaps", "Where the choice changes", gaps, "Between these sizes nothing was measured:")
    yield from _listed_under("further_warnings", "Further warnings", known.warnings[MAX_BRIEF:])


def _listed_under(name: str, title: str, items: Sequence[str], about: str = "") -> Iterator[Block]:
    """The items under a heading; nothing without items."""
    if items:
        yield Heading(name, title)
        if about:
            yield Sentence(f"about_{name}", about)
        yield Bullets(name, tuple(items))


def _switch_on(files: TunedFiles, folder: Path) -> Iterator[Block]:
    """How to use the files; nothing where there is no file to use."""
    if files.settings or files.preload_rules:
        yield Heading("switch_on", "Switch it on")
    if files.settings:
        on, off, where = (shlex.quote(str(each)) for each in (folder / SWITCH_ON, folder / SWITCH_OFF, folder))
        ways = (
            f"In a shell: `. {on}`; `. {off}` undoes it.",
            f"Or as a module: `module use {where}; module load {MODULE}`.",
        )
        yield Bullets("ways", ways)
        settings = "\n".join(f"{name}={value}" for name, value in files.settings.items())
        yield NextCommand("settings", settings, "Or by the library's settings")
    if files.preload_rules:
        yield NextCommand(
            "preload",
            f"timpani preload --rules {shlex.quote(str(folder / PRELOAD_RULES))} -- mpirun …",
            "Rules with Timpani's algorithms need its library, preloaded into the program",
        )


def _as_sentence(line: str) -> str:
    """A line of the terminal with a capital and a period."""
    return f"{line[0].upper()}{line[1:]}".rstrip(".") + "."


def _within_rules(table: SelectionTable, sampled: SizesAt) -> str:
    """The sampled sizes to which rules apply, with the algorithm of each rule."""
    found = (
        (rule.algorithm, [size for size in sampled.sizes if size in rule.sizes])
        for rule in table.rules_for([sampled.collective])
        if sampled.ranks in rule.ranks
    )
    return "; ".join(f"{_listed(sizes)} ({algorithm})" for algorithm, sizes in found if sizes)


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(show_size, sizes))


def _algorithms_in_gap(table: SelectionTable, gap: SizeGap) -> str:
    """The algorithms of the rules that apply between the sizes of a gap."""
    held = (
        rule.algorithm
        for rule in table.rules_for([gap.collective])
        if gap.before + 1 in rule.sizes and gap.ranks in rule.ranks and gap.nodes in rule.nodes
    )
    return ", ".join(map(str, held)) or "the library chooses"


def _rules(table: SelectionTable) -> Iterator[Block]:
    yield Heading("rules", "Rules")
    yield Sentence("about_rules", " ".join([_ABOUT_GAINS, *([] if table.simulated else [_ABOUT_CHANCE]), _ABOUT_COST]))
    launches = [{each.launches for each in rule.evidence} for rule in table.rules]
    over = [[] if table.simulated else [show_span(Span(min(each), max(each)))] for each in launches]
    gain = "gain" if table.simulated else f"gain ({_LEVEL})"
    columns = (*_COLUMNS, gain, *([] if table.simulated else ["launches, or jobs"]), "cost")
    found = ([*_row(rule), *each, _cost(rule)] for rule, each in zip(table.rules, over, strict=True))
    yield Table("rules", columns, rows(found))
    if any(rule.algorithm.provider == OWN for rule in table.rules):
        yield Sentence("own", "`timpani/…` are Timpani's own algorithms, which the library doesn't have.")
    read = [rule for rule in table.rules if rule.reordered is not None]
    yield from _listed_under("order", "Order of addition", list(map(change_of_order, read)))


def _predicted(table: SelectionTable) -> Iterator[Block]:
    predicted = table.predicted
    if predicted is None:
        return
    yield Heading("predicted", "Predicted, not measured")
    yield Sentence("about_predicted", _ABOUT_PREDICTED)
    yield Bullets("conditions", tuple(predicted.conditions))
    if predicted.rules:
        used = "They are in the files that libraries read, as requested."
        unused = "They are in no file that a library reads: `timpani tune … --with-predicted` puts them there."
        yield Sentence("used", used if predicted.in_files else unused)
        columns = (*_COLUMNS, f"predicted gain ({_LEVEL})", "cost")
        yield Table("predicted", columns, rows([*_row(rule), _cost(rule)] for rule in predicted.rules))
    else:
        nothing = "There is no rule: no predicted gain over the default exceeds the error of the prediction."
        yield Sentence("no_prediction", nothing)
    if predicted.left_out:
        yield Bullets("not_predicted", tuple(predicted.left_out), "Not predicted")


_COLUMNS = ("collective", "ranks", "sizes", "algorithm")


def _row(rule: Rule) -> list[str]:
    """The first columns of a rule's row, which all tables of rules share."""
    nodes = f"{show_span(rule.nodes)} {'node' if rule.nodes.last == 1 else 'nodes'}"
    ranks = f"{show_span(rule.ranks)} on {nodes}"
    return [rule.collective, ranks, _sizes(rule), str(rule.algorithm), _gains(rule.evidence)]


def _cost(rule: Rule) -> Value:
    return Value(rule.regret, show=lambda regret: f"{100 * regret:.1f} %")


def _rule_conditions(rule: Rule) -> str:
    return f"{rule.collective}, {show_span(rule.ranks)} ranks, {_sizes(rule)}"


def _sizes(rule: Rule) -> str:
    if not is_sized(rule.collective):
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
