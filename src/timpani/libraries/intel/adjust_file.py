"""I_MPI_ADJUST variables as a file that a shell reads."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from timpani.errors import UserError, printable, shortened
from timpani.libraries.catalogue import Catalogue
from timpani.libraries.intel.adjust import Entry, chosen_preset, parse_value
from timpani.libraries.intel.shell_settings import AdjustSetting, adjust_settings
from timpani.libraries.launch_request import Parameters
from timpani.libraries.tuning_file import Fault, LeftOut, TuningFile, Written, differ_by_nodes
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Call, Rule, SelectionTable, Span
from timpani.study.sizes import LARGEST

_MEND = "write each as export I_MPI_ADJUST_BCAST='3:0-4095;0:4096-2147483647'"


@dataclass(frozen=True)
class AdjustChoice:
    """What Intel MPI chooses by such a file."""

    entries: Mapping[str, Sequence[Entry]]
    catalogue: Catalogue

    def decide(self, call: Call) -> Algorithm | None:
        """The preset; None where the library decides, as it does for a preset that it lacks."""
        preset = chosen_preset(self.entries.get(call.collective, ()), call.ranks, call.message_bytes)
        infos = self.catalogue.algorithms.get(call.collective, ())
        found = next((info for info in infos if info.value == str(preset)), None)
        return Algorithm(self.catalogue.provider, found.name) if found else None


class AdjustFile(TuningFile):
    """Read by a shell before a program starts: the library reads variables alone, these since the presets of 2019."""

    name = "intel-mpi.sh"
    title = "Intel MPI's I_MPI_ADJUST variables, for a shell"
    since = (2019,)

    def recognizes(self, text: str) -> bool:
        """It sets such a variable, in a job script say."""
        return re.search(r"\bI_MPI_ADJUST_[A-Z_]+[= ]", text) is not None

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """A line a collective."""
        lines = [f"# {catalogue.title}: source this file before mpiexec.hydra"]
        if counts := sorted({rule.ranks.first for rule in table.rules if rule.predicted}):
            lines.append(f"# rules for {', '.join(map(str, counts))} ranks are predicted, not measured")
        said: list[Rule] = []
        left_out: list[LeftOut] = []
        for collective in dict.fromkeys(rule.collective for rule in table.rules):
            rules = table.rules_for((collective,))
            kept, why = _sayable(rules, catalogue)
            left_out += why
            said += kept
            if kept:
                value = ";".join(map(str, _entries(kept, catalogue)))
                lines.append(f"export I_MPI_ADJUST_{collective.upper()}='{value}'")
        return Written("\n".join(lines) + "\n", replace(table, rules=tuple(said)), tuple(left_out))

    def read(self, text: str, catalogue: Catalogue) -> AdjustChoice:
        """What the library chooses with these variables; UserError where it would ignore one."""
        entries: dict[str, Sequence[Entry]] = {}
        for setting in adjust_settings(text):
            found = parse_value(setting.value) if setting.value is not None else None
            if found is None:
                raise UserError(f"line {setting.line}: {_setting_name(setting)} has no value that can be read", _MEND)
            entries[setting.collective] = found
        return AdjustChoice(entries, catalogue)

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """All that the library ignores without a word, or understands otherwise than it is written."""
        seen: dict[str, int] = {}
        for setting in adjust_settings(text):
            line, collective, what = setting.line, setting.collective, _setting_name(setting)
            if setting.value is None:
                yield Fault("warning", line, f"{what} has no value that stands here", "it isn't checked", _MEND)
                continue
            if setting.rest:
                first = f"the shell ends {what} at the semicolon: it is '{shortened(setting.value, 60)}'"
                ran = f"the shell runs '{shortened(setting.rest, 60)}' as a command"
                yield Fault("warning", line, printable(first), printable(ran), "put the value in quotes")
            if not setting.exported:
                yield Fault("error", line, f"{what} isn't exported", "programs don't get it", "write export before it")
            if collective in seen:
                yield Fault("warning", line, f"{what} again", f"line {seen[collective]} has no effect", "keep one")
            seen[collective] = line
            if collective not in catalogue.algorithms:
                consequence = "the library says that it isn't supported, or it is of what Timpani doesn't measure"
                yield Fault("warning", line, f"{what} is of no collective known here", consequence, "check its name")
                continue
            found = parse_value(setting.value)
            if found is None:
                shown = printable(shortened(setting.value, 60))
                yield Fault("error", line, f"{what}={shown} can't be read", "the library ignores it whole", _MEND)
                continue
            yield from entry_faults(line, found, [int(info.value) for info in catalogue.algorithms[collective]])

    def switch_on(self, path: Path, text: str, mpi: Mpi) -> Parameters:
        """The variables that the file sets."""
        found = {each.collective: each.value for each in adjust_settings(text) if each.value is not None}
        return tuple((f"I_MPI_ADJUST_{collective.upper()}", value) for collective, value in found.items())


def _setting_name(setting: AdjustSetting) -> str:
    return f"I_MPI_ADJUST_{shortened(setting.collective, 60).upper()}"


def _sayable(rules: Sequence[Rule], catalogue: Catalogue) -> tuple[list[Rule], list[LeftOut]]:
    """One collective's rules as a variable can say them, and what it can't."""
    known = {info.name for info in catalogue.algorithms.get(rules[0].collective, ())}
    sized = any(rule.sizes != ALL for rule in rules)
    several = len({rule.ranks for rule in rules}) > 1
    kept, left_out = [], []
    for rule in rules:
        edges = (rule.sizes.first, rule.sizes.last or 0, rule.ranks.first, rule.ranks.last or 0)
        if not rule.algorithm.is_default and rule.algorithm.name not in known:
            left_out.append(LeftOut(rule, f"{catalogue.title} has no such preset"))
        elif sized and several:
            why = "a variable can distinguish sizes or ranks, not both, and the rules have several of each"
            left_out.append(LeftOut(rule, why))
        elif max(edges) >= LARGEST:
            left_out.append(LeftOut(rule, f"ranges end at {LARGEST}"))
        elif any(differ_by_nodes(rule, other) for other in rules):
            left_out.append(LeftOut(rule, "another rule differs only in its nodes, which a variable can't distinguish"))
        else:
            kept.append(replace(rule, ranks=ALL if sized else rule.ranks, nodes=ALL, per_node=ALL))
            if sized and rule.ranks != ALL:
                why = "a variable can distinguish sizes or ranks, not both: it holds for every number of ranks"
                left_out.append(LeftOut(rule, why))
            if (rule.nodes, rule.per_node) != (ALL, ALL):
                left_out.append(LeftOut(rule, "a variable can't distinguish nodes or ranks per node"))
    return kept, left_out


def _entries(rules: Sequence[Rule], catalogue: Catalogue) -> Iterator[Entry]:
    """Ranges that follow each other from 0 to the end, with preset 0 wherever no rule applies."""
    presets = {info.name: int(info.value) for info in catalogue.algorithms[rules[0].collective]}
    by_ranks = any(rule.ranks != ALL for rule in rules)
    spans = [(rule.ranks if by_ranks else rule.sizes, presets.get(rule.algorithm.name, 0)) for rule in rules]
    starts = {span.first for span, _ in spans} | {span.last + 1 for span, _ in spans if span.last is not None}
    cuts = [*sorted(starts | {0}), LARGEST + 1]
    for start, following in pairwise(cuts):
        preset = next((preset for span, preset in spans if start in span), 0)
        here = Span(start, following - 1)
        yield Entry(preset, Span(0, LARGEST), here) if by_ranks else Entry(preset, here)


def entry_faults(line: int, entries: Sequence[Entry], presets: Sequence[int]) -> Iterator[Fault]:
    """The faults of one variable's value; `presets` are those that the library has."""
    for entry in entries:
        if entry.preset and entry.preset not in presets:
            what = f"preset {entry.preset}, where there are {min(presets)} to {max(presets)}"
            yield Fault("error", line, what, "the library takes its default, without a word", "correct it")
    by_ranks = any(entry.ranks for entry in entries)
    if by_ranks and any(entry.sizes not in (None, Span(0, LARGEST)) for entry in entries):
        what = "sizes in addition to ranks"
        yield Fault("error", line, what, "the library ignores sizes: each entry holds for all of them", "use only one")
    spans = [(entry.ranks if by_ranks else entry.sizes) or Span(0, LARGEST) for entry in entries]
    yield from _ranges(line, spans, "ranks" if by_ranks else "bytes", by_ranks)


def _ranges(line: int, spans: Sequence[Span], unit: str, replaced: bool) -> Iterator[Fault]:
    """Only upper ends count, in the order of the entries."""
    for span in spans:
        if span.last is not None and span.last < span.first:
            what = f"the range {span.first}-{span.last} is reversed"
            yield Fault("warning", line, what, f"it ends at {span.last} {unit}", "write the smaller number first")
    if spans[0].first > 0:
        what = f"nothing is said below {spans[0].first} {unit}"
        consequence = "the first preset holds there too: only upper ends count"
        yield Fault("warning", line, what, consequence, f"begin with 0:0-{spans[0].first - 1}")
    for before, span in pairwise(spans):
        end, following = before.last or 0, span.last or 0
        if following <= end:
            again = replaced and following == end
            consequence = "it replaces the one before" if again else "it is never reached"
            what = f"a range that ends at {following} {unit} after one that ends at {end}"
            yield Fault("error", line, what, consequence, "put ranges in ascending order")
        elif span.first > end + 1:
            what = f"nothing is said from {end + 1} to {span.first - 1} {unit}"
            yield Fault("warning", line, what, "the preset after that holds there", f"say 0:{end + 1}-{span.first - 1}")
        elif span.first <= end:
            what = f"ranges overlap from {span.first} to {end} {unit}"
            yield Fault("warning", line, what, "the first one holds", "let each begin after the one before")
    end = max(span.last or 0 for span in spans)
    if end < LARGEST:
        what = f"nothing is said above {end} {unit}"
        consequence = "the last preset holds there too"
        yield Fault("warning", line, what, consequence, f"end with 0:{end + 1}-{LARGEST}")
