"""The rules of Open MPI 6's `coll/tuned` in JSON: written, read and checked.

    {"rule_file_version": 3, "module": "tuned", "collectives": {COLLECTIVE: [ENTRY, ...], ...}}
    ENTRY := {"comm_size_min": N, "comm_size_max": N, "comm_rank_distribution": DISTRIBUTION, "rules": [RULE, ...]}
    RULE  := {"msg_size_min": N, "msg_size_max": N, "alg": NAME, "faninout": N, "seg_size": N, "reqs": N}

When a communicator is created, the first ENTRY that fits it is taken; at a call, the first RULE in it. All keys but
`rules` and `alg` may be missing. From `coll_tuned_dynamic_file.c` and `coll_tuned_dynamic_rules.c` of Open MPI's main
branch of August 2026 (8efebee745). Where its schema says something else, the reader decides: the schema calls
`reduce_scatter` `reducescatter`, and knows no `seg_size`. Where this module says "ignores the whole file" the reader
prints nothing, unless `coll_tuned_verbose` is 1 or more.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from timpani.errors import printable, shortened
from timpani.libraries.catalogue import Catalogue, Parameters
from timpani.libraries.grid import NONE, CommunicatorGroup, RuleGrid, SizeChoice, covers
from timpani.libraries.json_text import JsonMember, JsonObject, JsonValue, NotJsonError, read_document
from timpani.libraries.openmpi.classic_rules import tuned_switches
from timpani.libraries.openmpi.sayable import (
    ANYWHERE,
    DISTINGUISHED,
    ONE_PER_NODE,
    SINGLE_NODE,
    Distribution,
    Said,
    Sayable,
    Sizes,
    by_ranks,
)
from timpani.libraries.openmpi.tuned import (
    LEFT_TO_OTHERS,
    TUNED,
    Dialect,
    compared,
    fields,
    group_faults,
    library_name,
    setting_faults,
    written_algorithm,
)
from timpani.libraries.tuning_file import (
    MAX_FAULTS,
    Fault,
    TuningFile,
    Written,
    first_faults,
    name_fix,
    refuse_errors,
    share_calls,
)
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import ALL, Rule, SelectionTable, Span, overlap, split_span
from timpani.study.sizes import LARGEST

_VERSION, _MODULE = 3, "tuned"
_KEYS = {"topo": "faninout", "segment": "seg_size", "requests": "reqs"}
_DIALECT = Dialect(
    unknown=("warning", "the library skips the rule without a message"),
    only_two="put it into an entry with comm_size_max 2",
    keys=_KEYS,
    keyed=True,
)

_BEGINS = re.compile(r"\ufeff?\s*\{")
_OWN_KEYS = re.compile(r'"(?:alg|rule_file_version|comm_size_(?:min|max)|msg_size_(?:min|max))"\s*:')
_TOP = ("rule_file_version", "module", "$schema", "collectives")
_DISTRIBUTION = "comm_rank_distribution"
_OF_ENTRIES = ("comm_size_min", "comm_size_max", _DISTRIBUTION, "rules")
_OF_RULES = ("msg_size_min", "msg_size_max", "alg", *_KEYS.values())

_UNLIMITED = 2**63 - 1
"""What the reader takes for `inf`, in bytes."""

_INFINITE = ("inf", "Inf", "INF")
_WORDS = tuple(dict.fromkeys(each.word for each in DISTINGUISHED))
_WORD_FIX = f"write one of {', '.join(_WORDS)}"
_NO_ALGORITHM = "ignore"
"""The name of id 0: the library decides."""

_NEVER = "the library never uses it"


class JsonRulesFile(TuningFile):
    """Open MPI 6's format."""

    name = "openmpi-tuned.json"
    title = "Open MPI 6's rules for coll/tuned"
    since = (6,)

    def recognizes(self, text: str) -> bool:
        """An object with a key of the format."""
        return bool(_BEGINS.match(text) and _OWN_KEYS.search(text))

    def write(self, table: SelectionTable, catalogue: Catalogue, mpi: Mpi) -> Written:
        """Parameters that are the library's defaults are not in `said`, nor in what is read back."""
        sayable = Sayable.in_version(mpi.numbers, table, catalogue)
        said = replace(table, rules=_merged(sayable.rules_in_file()))
        return Written(_text(said, catalogue), said, tuple(sayable.left_out))

    def read(self, text: str, catalogue: Catalogue) -> RuleGrid:
        """UserError for a file that the library ignores, or that ends programs."""
        rules = _Rules(text, catalogue)
        refuse_errors(filter(None, (rules.ignored, *rules.faults)))
        # Of two collectives with one name the last counts.
        return RuleGrid({each.name: each.groups for each in rules.collectives if each.name in TUNED}, compared)

    def lint(self, text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
        """Rules that the library ignores, or by which it does something else than they seem to say."""
        rules = _Rules(text, catalogue)
        if rules.ignored:
            yield rules.ignored
        found = [*rules.faults, *_document_faults(rules)]
        for collective in rules.collectives:
            found += _collective_faults(collective, catalogue)
        yield from first_faults(found)
        chosen = {each.name for each in rules.collectives if any(group.choices for group in each.groups)}
        yield from setting_faults(chosen & set(TUNED), mpi)

    def switch_on(self, path: Path, text: str, mpi: Mpi) -> Parameters:
        """The parameters of the classic file: the library detects the format."""
        return tuned_switches(path, mpi)


@dataclass(frozen=True)
class _Collective:
    line: int
    name: str
    groups: tuple[CommunicatorGroup, ...]


class _IgnoredError(Exception):
    def __init__(self, line: int, what: str, fix: str) -> None:
        consequence = "Open MPI ignores the whole file without a message, or ends with a memory error"
        self.fault = Fault("error", line, printable(shortened(what, 200)), consequence, fix)


class _Rules:
    """What a text says.

    collectives  those before the place at which the library ignores the file, if it does
    faults       of entries and rules, in spite of which the library reads on
    ignored      the first fault because of which the library ignores the whole file; None: it reads it
    lenient      where other readers refuse the text: a line, and what is there
    members      of the document
    """

    def __init__(self, text: str, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.collectives: list[_Collective] = []
        self.faults: list[Fault] = []
        self.ignored: Fault | None = None
        self.lenient: tuple[tuple[int, str], ...] = ()
        self.members: tuple[JsonMember, ...] = ()
        try:
            document = read_document(text)
            self.lenient = document.lenient
            root = _object(document.value, "the document")
            self.members = root.members
            self._read_collectives(root, document.value.line)
        except NotJsonError as error:
            what = printable(f"no JSON: {error}")
            consequence = "Open MPI reads it as a file of the classic format then, and ignores it without a message"
            self.ignored = Fault("error", error.line, what, consequence, "correct it here or above")
        except _IgnoredError as error:
            self.ignored = error.fault

    def _read_collectives(self, root: JsonObject, line: int) -> None:
        named = root.first("collectives")
        if named is None:
            raise _IgnoredError(line, "the document has no key collectives", 'put all rules below "collectives"')
        for member in _object(named, "collectives").members:
            if member.key not in (*TUNED, *LEFT_TO_OTHERS):
                what = f"unknown collective {shortened(member.key, 40)!r}"
                fix = name_fix(member.key, TUNED, f"write one of {', '.join(TUNED)}")
                raise _IgnoredError(member.line, what, fix)
            if not isinstance(member.value.content, tuple):
                what = f"{member.key} is no list of entries"
                raise _IgnoredError(member.line, what, "write [{…}], also for one entry")
            groups = tuple(self._group(member.key, each) for each in member.value.content)
            self.collectives.append(_Collective(member.line, member.key, groups))

    def _group(self, collective: str, value: JsonValue) -> CommunicatorGroup:
        content = _object(value, "an entry of a collective")
        self.faults += _key_faults(value.line, content, _OF_ENTRIES)
        first, last = (
            _as_int(self._integer(content, f"comm_size_{end}", default))
            for end, default in (("min", 0), ("max", LARGEST))
        )
        if last < 0:
            what = f"{collective}: comm_size_max is inf, or too large for C's int"
            consequence = f"the library takes it for {last}, so it never uses the entry"
            self.faults.append(Fault("warning", value.line, what, consequence, "leave comm_size_max out"))
        elif first > last:
            what = f"{collective}: comm_size_min {first} exceeds comm_size_max {last}"
            self.faults.append(Fault("warning", value.line, what, _NEVER, "correct the two"))
        rules = content.first("rules")
        if rules is None:
            raise _IgnoredError(value.line, "an entry has no rules", 'add "rules": […]')
        if isinstance(rules.content, JsonObject) and rules.content.members:
            what = "the rules of an entry are an object, not a list"
            consequence = "Open MPI uses memory that nothing was written to, and may end with a segmentation fault"
            self.faults.append(Fault("error", rules.line, what, consequence, "write [{…}], also for one rule"))
        elif not isinstance(rules.content, tuple | JsonObject):
            raise _IgnoredError(rules.line, "the rules of an entry are no list", "write [{…}], also for one rule")
        items = rules.content if isinstance(rules.content, tuple) else ()
        word = self._distribution(content)
        nodes = SINGLE_NODE.nodes if word == SINGLE_NODE.word else ALL
        per_node = ONE_PER_NODE.per_node if word == ONE_PER_NODE.word else ALL
        choices = tuple(self._choice(collective, each) for each in items)
        return CommunicatorGroup(value.line, first, Span(first, last), choices, nodes, per_node)

    def _distribution(self, content: JsonObject) -> str:
        value = content.first(_DISTRIBUTION)
        if value is None:
            return ANYWHERE.word
        if not isinstance(value.content, str):
            raise _IgnoredError(value.line, f"{_DISTRIBUTION} is no text", _WORD_FIX)
        if value.content in _WORDS:
            return value.content
        what = f"unknown {_DISTRIBUTION} {printable(shortened(value.content, 40))!r}"
        consequence = "the library takes it for any: the entry holds on all communicators of its sizes"
        self.faults.append(Fault("warning", value.line, what, consequence, _WORD_FIX))
        return ANYWHERE.word

    def _choice(self, collective: str, value: JsonValue) -> SizeChoice:
        content = value.content
        if not isinstance(content, JsonObject):
            self._chooses_nothing(value.line, "a rule is no object")
            return SizeChoice(value.line, 0, ALL, None)
        self.faults += _key_faults(value.line, content, _OF_RULES)
        first, last = (
            self._integer(content, f"msg_size_{end}", default) % 2**64  # in a C size_t, which has no sign
            for end, default in (("min", 0), ("max", _UNLIMITED))
        )
        if first > last:
            what = f"msg_size_min {first} exceeds msg_size_max {last}"
            self.faults.append(Fault("warning", value.line, what, _NEVER, "correct the two"))
        elif max(first, last) > _UNLIMITED:
            consequence = "the library takes it for more than 2^63 B"
            self.faults.append(Fault("warning", value.line, "a negative size", consequence, "write a size in bytes"))
        fan, requests = (_as_int(self._integer(content, key, 0)) for key in ("faninout", "reqs"))
        values = {"topo": fan, "segment": self._integer(content, "seg_size", 0), "requests": requests}
        alg = content.first("alg")
        named = None if alg is None else alg.content if isinstance(alg.content, str) else alg.whole
        if named is None:
            self._chooses_nothing(value.line, "a rule has no alg" if alg is None else "alg is no name and no number")
        sizes = Span(first, None if last == _UNLIMITED else last)
        return self._with_algorithm(SizeChoice(value.line, first, sizes, None, values=values), collective, named)

    def _with_algorithm(self, choice: SizeChoice, collective: str, named: str | int | None) -> SizeChoice:
        """`choice` with its algorithm: the reader takes a number or a name, in which it ignores case."""
        number = _as_number(named) if isinstance(named, str) else named
        if named is None or number == 0 or str(named).lower() == _NO_ALGORITHM:
            return choice
        infos = self._catalogue.algorithms.get(collective, ())
        by_name = (each for each in infos if library_name(each).lower() == str(named).lower())
        by_id = (each for each in infos if int(each.value) == number)
        info = next(by_name, None) or next(by_id, None)
        algorithm = written_algorithm(self._catalogue.provider, info, choice.values) if info else None
        return replace(choice, algorithm=algorithm, named=str(named), info=info, skipped=info is None)

    def _chooses_nothing(self, line: int, what: str) -> None:
        consequence = "the library decides the messages of this rule itself, and reads no later rule for them"
        self.faults.append(Fault("warning", line, what, consequence, "name an algorithm, or remove the rule"))

    def _integer(self, content: JsonObject, key: str, default: int) -> int:
        value = content.first(key)
        if value is None:
            return default
        if value.whole is not None:
            return value.whole
        if isinstance(value.content, str) and value.content.startswith(_INFINITE):
            return _UNLIMITED
        raise _IgnoredError(value.line, f"{key} is no whole number of 64 bits and not inf", "write a whole number")


def _object(value: JsonValue, what: str) -> JsonObject:
    if isinstance(value.content, JsonObject):
        return value.content
    raise _IgnoredError(value.line, f"{what} is no object", "write {…}")


def _as_int(number: int) -> int:
    """`number` in a C int, which keeps its last 32 bits."""
    return (number + 2**31) % 2**32 - 2**31


def _as_number(text: str) -> int | None:
    """`text` as C's strtol reads it, in any base."""
    try:
        return int(text, 8 if text.startswith("0") and text.isdecimal() else 0)
    except ValueError:
        return None


def _document_faults(rules: _Rules) -> Iterator[Fault]:
    yield from _key_faults(rules.members[0].line if rules.members else 1, JsonObject(rules.members), _TOP)
    for key, wanted in (("rule_file_version", _VERSION), ("module", _MODULE)):
        value = JsonObject(rules.members).first(key)
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


def _key_faults(line: int, content: JsonObject, known: Sequence[str]) -> Iterator[Fault]:
    """Keys that the library does not read, or reads once."""
    for key, count in Counter(each.key for each in content.members).items():
        shown = printable(shortened(key, 40))
        if key == _DISTRIBUTION and known == _TOP:
            what = f"{key} stands at the top, as in an example of Open MPI's documentation"
            yield Fault("warning", line, what, "the library reads it in entries only", "put it into each entry")
        elif key not in known:
            fix = name_fix(key, known, "remove it")
            yield Fault("warning", line, f"unknown key {shown!r}", "the library does not read it", fix)
        elif count > 1:
            yield Fault("warning", line, f"the key {shown} stands {count} times", "the first one counts", "keep one")


def _collective_faults(collective: _Collective, catalogue: Catalogue) -> Iterator[Fault]:
    name, groups = collective.name, collective.groups
    if name not in TUNED or name not in catalogue.algorithms:
        if any(choice.values or choice.named for group in groups for choice in group.choices):
            what = f"coll/tuned has no algorithms for {name}"
            consequence = "the library looks for a name in a list that is missing: every program ends in MPI_Init"
            yield Fault("error", collective.line, what, consequence, f"remove {name}")
        return
    spread = next((each for each in groups if each.per_node == ONE_PER_NODE.per_node), None)
    if spread:  # MPI_Init chooses algorithms of MPI_COMM_WORLD before this is known (ompi_mpi_init.c, comm_cid.c)
        what = f"{name}: an entry for one rank on each node"
        consequence = "the library skips it in MPI_COMM_WORLD, and follows it in other communicators"
        yield Fault("warning", spread.line, what, consequence, "call the collective on a copy by MPI_Comm_dup")
    for number, group in enumerate(groups):
        covering = next((each for each in groups[:number] if _fits_all(each, group)), None)
        if covering and group.ranks.first <= (group.ranks.last or 0):
            what = f"{name}: the entry in line {covering.line} fits all communicators of this one"
            fix = "put the entry for fewer communicators first"
            yield Fault("warning", group.line, what, f"{_NEVER}: the first entry that fits holds", fix)
        for place, choice in enumerate(group.choices):
            before = [each for each in group.choices[:place] if not each.skipped and covers(each.sizes, choice.sizes)]
            if before and choice.sizes != NONE:
                what = f"the rule in line {before[0].line} fits all sizes of this one"
                consequence = f"{_NEVER}: the first rule that fits holds"
                yield Fault("warning", choice.line, what, consequence, "put this one before it")
    yield from group_faults(name, groups, catalogue, _DIALECT)


def _fits_all(group: CommunicatorGroup, other: CommunicatorGroup) -> bool:
    """Whether `group` fits all communicators that `other` fits."""
    spans = ((group.ranks, other.ranks), (group.nodes, other.nodes), (group.per_node, other.per_node))
    return all(covers(one, each) for one, each in spans)


def _merged(said: tuple[Said, ...]) -> tuple[Rule, ...]:
    """The rules; one in place of those that differ in the distribution only, where no other rule is close to them."""
    rules = [each.rule for each in said]
    found: list[Rule] = []
    for rule in rules:
        anywhere = replace(rule, nodes=ANYWHERE.nodes, per_node=ANYWHERE.per_node)
        twins = [replace(rule, nodes=each.nodes, per_node=each.per_node) for each in DISTINGUISHED]
        alone = not any(share_calls(rule, other) for other in rules if other not in twins)
        merged = anywhere if alone and all(twin in rules for twin in twins) else rule
        if merged not in found:
            found.append(merged)
    return tuple(found)


def _text(said: SelectionTable, catalogue: Catalogue) -> str:
    """The file's text."""
    collectives = [name for name in TUNED if said.rules_for([name])]
    lines = ["{", f' "rule_file_version": {_VERSION},', f' "module": "{_MODULE}",', ' "collectives": {']
    for name in collectives:
        lines.append(f'  "{name}": [')
        entries = [_entry(name, entry, catalogue) for entry in _entries(name, said.rules_for([name]))]
        lines += [f"{entry}," for entry in entries[:-1]] + entries[-1:]
        lines.append("  ]," if name != collectives[-1] else "  ]")
    return "\n".join([*lines, " }", "}", ""])


_Entry = tuple[Span, Distribution, Sizes]


def _entries(collective: str, rules: tuple[Rule, ...]) -> Iterator[_Entry]:
    """The entries in the order in which the library tries them."""
    by_distribution = [
        dict(by_ranks(collective, tuple(rule for rule in rules if _decides(rule, distribution))))
        for distribution in DISTINGUISHED
    ]
    starts = sorted({ranks for each in by_distribution for ranks in each})
    for ranks in split_span([Span(first) for first in starts], Span(0)):
        single, one_per_node, several = (_reached(each, ranks.first) for each in by_distribution)
        if single == one_per_node == several:
            choices = [(ANYWHERE, several)]
        else:
            choices = list(zip(DISTINGUISHED, (single, one_per_node, several), strict=True))
            choices = [each for each in choices[:-1] if each[1] != several] + choices[-1:]
        if not _chooses(several):
            choices.pop()
        yield from ((ranks, distribution, sizes) for distribution, sizes in choices)


def _decides(rule: Rule, distribution: Distribution) -> bool:
    return overlap(rule.nodes, distribution.nodes) and overlap(rule.per_node, distribution.per_node)


def _reached(by_start: Mapping[int, Sizes], ranks: int) -> Sizes:
    starts = [start for start in by_start if start <= ranks]
    return by_start[max(starts)] if starts else {}


def _chooses(sizes: Sizes) -> bool:
    return any(sizes.values())


def _entry(collective: str, entry: _Entry, catalogue: Catalogue) -> str:
    ranks, distribution, sizes = entry
    keys: dict[str, int | str] = {"comm_size_min": ranks.first}
    if ranks.last is not None:
        keys["comm_size_max"] = ranks.last
    keys["comm_rank_distribution"] = distribution.word
    rules = [f"    {json.dumps(each)}" for each in _rules(collective, sizes, catalogue)]
    listed = "[\n" + ",\n".join(rules) + "]" if rules else "[]"
    return f'   {json.dumps(keys)[:-1]}, "rules": {listed}}}'


def _rules(collective: str, sizes: Sizes, catalogue: Catalogue) -> Iterator[dict[str, int | str]]:
    """The rules of an entry; sizes for which the library decides have none."""
    starts = sorted(sizes)
    for first, following in zip(starts, [*starts[1:], None], strict=True):
        algorithm = sizes[first]
        if algorithm is None:
            continue
        keys: dict[str, int | str] = {"msg_size_min": first}
        if following is not None:
            keys["msg_size_max"] = following - 1
        yield keys | _chosen(collective, algorithm, catalogue)


def _chosen(collective: str, algorithm: Algorithm, catalogue: Catalogue) -> dict[str, int | str]:
    """The algorithm by its name, and the parameters that it reads. The library takes 0 for a key that is missing."""
    info = catalogue.info(collective, algorithm)
    assert info is not None, "sizes without an algorithm have no rule"
    asked = dict(algorithm.parameters)
    values = {_KEYS[field]: asked.get(each.name, each.default) for field, each in fields(info).items()}
    return {"alg": library_name(info)} | {key: value for key, value in values.items() if value}
