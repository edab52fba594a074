"""Faults of rules in JSON: the library ignores them, or does something else than they seem to say."""

from collections import Counter
from collections.abc import Iterator, Sequence

from timpani.errors import printable, shortened
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.libraries.openmpi.json_rules.choice import NamedAlgorithms
from timpani.libraries.openmpi.json_rules.entries import (
    UNLIMITED,
    JsonCollective,
    JsonEntry,
    JsonRule,
    JsonRules,
)
from timpani.libraries.openmpi.json_rules.installed_schema import schema_faults
from timpani.libraries.openmpi.json_rules.write import KEYS, MODULE, VERSION
from timpani.libraries.openmpi.tuned_rules.collectives import TUNED, TWO_RANKS
from timpani.libraries.openmpi.tuned_rules.distributions import ONE_PER_NODE
from timpani.libraries.openmpi.tuned_rules.lint_rules import faults_of_sizes, faults_of_unit
from timpani.libraries.openmpi.tuned_rules.parameters import MIN_RADIX, Field, fields, has_radix, library_name
from timpani.libraries.openmpi.tuned_rules.parse import CommunicatorRule, MessageRule
from timpani.libraries.openmpi.tuned_rules.set_elsewhere import faults_of_settings
from timpani.libraries.tuning_file import MAX_FAULTS, Fault, first_faults, name_fix
from timpani.native.mpi import Mpi
from timpani.study.selection import Span, split_span

_TOP = ("rule_file_version", "module", "$schema", "collectives")
_OF_ENTRIES = ("comm_size_min", "comm_size_max", "comm_rank_distribution", "rules")
_OF_RULES = ("msg_size_min", "msg_size_max", "alg", "faninout", "seg_size", "reqs")
_NEVER = "the library never uses it"


def lint(text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
    """As `TuningFile.lint`."""
    rules = JsonRules(text)
    if rules.ignored:
        yield rules.ignored
    found = [*rules.faults, *_of_document(rules)]
    for collective in rules.collectives:
        found += _of_collective(collective, catalogue)
    yield from first_faults(found)
    if not rules.ignored:
        yield from schema_faults(text, mpi)
    yield from faults_of_settings({each.name for each in rules.collectives if _chooses(each)}, mpi)


def _of_document(rules: JsonRules) -> Iterator[Fault]:
    yield from _of_keys(rules.members[0].line if rules.members else 1, [each.key for each in rules.members], _TOP)
    for key, wanted in (("rule_file_version", VERSION), ("module", MODULE)):
        value = next((each.value for each in rules.members if each.key == key), None)
        if value is None and rules.members:
            consequence = "the library reads the file all the same, but its schema asks for the key"
            yield Fault("note", rules.members[0].line, f"no {key}", consequence, f'add "{key}": {wanted!r}')
        elif value is not None and value.content != wanted:
            what = f"{key} is {printable(shortened(str(value.content), 40))}, not {wanted}"
            yield Fault("warning", value.line, what, "the library reads the rules all the same", "correct it")
    for line, what in rules.lenient[:MAX_FAULTS]:
        yield Fault("note", line, printable(what), "the library accepts it, other programs do not", "remove it")
    lines: dict[str, int] = {}
    for collective in rules.collectives:
        if collective.name in lines:
            what = f"{collective.name} has rules in line {lines[collective.name]} already"
            yield Fault("warning", collective.line, what, "the library uses the last only", "remove one of the two")
        lines[collective.name] = collective.line


def _of_keys(line: int, keys: Sequence[str], known: Sequence[str]) -> Iterator[Fault]:
    """Keys that the library does not read, or reads once."""
    for key, count in Counter(keys).items():
        shown = printable(shortened(key, 40))
        if key not in known:
            fix = name_fix(key, known, "remove it")
            yield Fault("warning", line, f"unknown key {shown!r}", "the library does not read it", fix)
        elif count > 1:
            yield Fault("warning", line, f"the key {shown} stands {count} times", "the first one counts", "keep one")


def _of_collective(collective: JsonCollective, catalogue: Catalogue) -> Iterator[Fault]:
    name = collective.name
    if name not in TUNED or name not in catalogue.algorithms:
        if any(rule.algorithm is not None for entry in collective.entries for rule in entry.rules):
            what = f"coll/tuned has no algorithms for {name}"
            consequence = "the library looks for a name in a list that is missing: every program ends in MPI_Init"
            yield Fault("error", collective.line, what, consequence, f"remove {name}")
        return
    algorithms = NamedAlgorithms.of_collective(catalogue, name)
    spread = next((each for each in collective.entries if each.distribution == ONE_PER_NODE.word), None)
    if spread:  # MPI_Init chooses algorithms of MPI_COMM_WORLD before this is known (ompi_mpi_init.c, comm_cid.c)
        what = f"{name}: an entry for one rank on each node"
        consequence = "the library skips it in MPI_COMM_WORLD, and follows it in other communicators"
        yield Fault("warning", spread.line, what, consequence, "call the collective on a copy by MPI_Comm_dup")
    for number, entry in enumerate(collective.entries):
        yield from _of_keys(entry.line, entry.keys, _OF_ENTRIES)
        yield from _of_entry(entry, collective.entries[:number], name)
        for place, rule in enumerate(entry.rules):
            yield from _of_keys(rule.line, rule.keys, _OF_RULES)
            yield from _of_rule(rule, [each for each in entry.rules[:place] if algorithms.knows(each)])
            yield from _of_algorithm(rule, entry, name, algorithms, catalogue)
        yield from faults_of_sizes(_by_size(entry, algorithms), name)
    if TUNED[name].unit == "blocks":
        yield from faults_of_unit([_by_size(entry, algorithms) for entry in collective.entries], name)


def _of_entry(entry: JsonEntry, before: Sequence[JsonEntry], name: str) -> Iterator[Fault]:
    if "comm_size_max" in entry.keys and entry.ranks_max < 0:
        what = f"{name}: comm_size_max is inf, or too large for C's int"
        consequence = f"the library takes it for {entry.ranks_max}, so it never uses the entry"
        yield Fault("warning", entry.line, what, consequence, "leave comm_size_max out")
    elif entry.ranks_min > entry.ranks_max:
        what = f"{name}: comm_size_min {entry.ranks_min} exceeds comm_size_max {entry.ranks_max}"
        yield Fault("warning", entry.line, what, _NEVER, "correct the two")
    covering = next((each for each in before if _covers(each, entry)), None)
    if covering and entry.ranks_min <= entry.ranks_max:
        what = f"{name}: the entry in line {covering.line} fits all communicators of this one"
        fix = "put the entry for fewer communicators first"
        yield Fault("warning", entry.line, what, f"{_NEVER}: the first entry that fits holds", fix)


def _covers(entry: JsonEntry, other: JsonEntry) -> bool:
    placed = entry.distribution in ("any", other.distribution)
    return placed and entry.ranks_min <= other.ranks_min and other.ranks_max <= entry.ranks_max


def _of_rule(rule: JsonRule, before: Sequence[JsonRule]) -> Iterator[Fault]:
    if rule.size_min > rule.size_max:
        what = f"msg_size_min {rule.size_min} exceeds msg_size_max {rule.size_max}"
        yield Fault("warning", rule.line, what, _NEVER, "correct the two")
        return
    covering = next(
        (each for each in before if each.size_min <= rule.size_min and rule.size_max <= each.size_max), None
    )
    if covering:
        what = f"the rule in line {covering.line} fits all sizes of this one"
        yield Fault("warning", rule.line, what, f"{_NEVER}: the first rule that fits holds", "put this one before it")
    elif rule.size_max > UNLIMITED or rule.size_min > UNLIMITED:
        what = "a negative size"
        yield Fault("warning", rule.line, what, "the library takes it for more than 2^63 B", "write a size in bytes")


def _of_algorithm(
    rule: JsonRule, entry: JsonEntry, name: str, algorithms: NamedAlgorithms, catalogue: Catalogue
) -> Iterator[Fault]:
    if not algorithms.knows(rule):
        names = [library_name(each) for each in algorithms.by_id.values()]
        shown = printable(shortened(str(rule.algorithm), 40))
        what = f"{catalogue.title} has no {name} algorithm {shown}"
        fix = name_fix(shown, names, f"choose one of {', '.join(names)}")
        yield Fault("warning", rule.line, what, "the library skips the rule without a message", fix)
        return
    info = algorithms.info(rule)
    if info is None:
        return
    if info.name == TWO_RANKS and entry.ranks_max > 2:
        what = f"{TWO_RANKS} runs on 2 ranks only, and the entry is for up to {entry.ranks_max} ranks"
        consequence = "the call fails on communicators of other sizes"
        yield Fault("error", rule.line, what, consequence, "put it into an entry with comm_size_max 2")
    yield from _of_parameters(rule, info)


def _of_parameters(rule: JsonRule, info: AlgorithmInfo) -> Iterator[Fault]:
    """Keys that the algorithm does not read, and values that it takes for others."""
    values: dict[Field, int] = {"topo": rule.faninout, "segment": rule.segment, "requests": rule.requests}
    read = fields(info)
    for field, value in values.items():
        parameter = read.get(field)
        what = f"{library_name(info)} with {KEYS[field]} {value}"
        if parameter is None:
            if value:
                yield Fault("warning", rule.line, what, "the algorithm does not read the key", f"remove {KEYS[field]}")
        elif field == "topo" and has_radix(info) and value < MIN_RADIX:
            consequence = "it is the algorithm's radix: the call divides by zero, or never ends"
            yield Fault("error", rule.line, what, consequence, f'write "faninout": {MIN_RADIX} or more')
        elif field == "topo" and not value:
            consequence = "the library builds it with fan-out 1, which is a pipeline; its default is 4"
            yield Fault("warning", rule.line, "a chain with faninout 0", consequence, 'add "faninout": 4')
        elif not 0 <= value <= parameter.maximum:
            consequence = "the library does not check the number, and the algorithm takes another one or fails"
            fix = f"write {parameter.minimum} to {parameter.maximum}"
            yield Fault("warning", rule.line, what, consequence, fix)


def _by_size(entry: JsonEntry, algorithms: NamedAlgorithms) -> CommunicatorRule:
    """The entry as the classic format says it: from which size on which choice; 0 where the library decides."""
    usable = [each for each in entry.rules if algorithms.knows(each) and each.size_min <= each.size_max]
    spans = [Span(each.size_min, None if each.size_max >= UNLIMITED else each.size_max) for each in usable]
    messages = []
    for span in split_span(spans, Span(0)):
        rule = next((each for each in usable if each.fits(span.first)), None)
        info = algorithms.info(rule) if rule else None
        line = rule.line if rule else entry.line
        number = int(info.value) if info else 0
        topo, segment, requests = (rule.faninout, rule.segment, rule.requests) if rule else (0, 0, 0)
        messages.append(MessageRule(line, span.first, number, topo, segment, requests))
    return CommunicatorRule(entry.line, entry.ranks_min, tuple(messages))


def _chooses(collective: JsonCollective) -> bool:
    """Whether it makes coll/tuned choose anything."""
    return collective.name in TUNED and any(entry.rules for entry in collective.entries)
