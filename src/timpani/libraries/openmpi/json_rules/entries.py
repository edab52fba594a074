"""Rules in JSON as Open MPI's reader takes them, and where it ignores the file or ends the program.

From `coll_tuned_dynamic_file.c`, main branch of August 2026. Where this module says "ignores the whole file" the reader
prints nothing, unless `coll_tuned_verbose` is 1 or more.
"""

from dataclasses import dataclass

from timpani.errors import printable, shortened
from timpani.libraries.json_text import (
    JsonMember,
    JsonObject,
    JsonValue,
    NotJsonError,
    read_document,
)
from timpani.libraries.openmpi.tuned_rules.collectives import LEFT_TO_OTHERS, TUNED
from timpani.libraries.openmpi.tuned_rules.distributions import DISTINGUISHED, ONE_PER_NODE, SINGLE_NODE
from timpani.libraries.tuning_file import Fault, name_fix
from timpani.study.selection import Call
from timpani.study.sizes import LARGEST

UNLIMITED = 2**63 - 1
"""What the reader takes for `inf`, in bytes."""

_INFINITE = ("inf", "Inf", "INF")
_WORDS = tuple(dict.fromkeys(each.word for each in DISTINGUISHED))


@dataclass(frozen=True)
class JsonRule:
    """One element of `rules`.

    algorithm  a name or an id; None where the file has neither, and the rule leaves the choice to the library
    keys       the keys that the file writes
    """

    line: int
    size_min: int
    size_max: int
    algorithm: str | int | None
    faninout: int = 0
    segment: int = 0
    requests: int = 0
    keys: tuple[str, ...] = ()

    def fits(self, size: int) -> bool:
        """Whether it decides messages of `size` bytes."""
        return self.size_min <= size <= self.size_max


@dataclass(frozen=True)
class JsonEntry:
    """Rules for the communicators of a range of sizes and of a distribution over nodes."""

    line: int
    ranks_min: int
    ranks_max: int
    distribution: str
    rules: tuple[JsonRule, ...]
    keys: tuple[str, ...] = ()

    def fits(self, call: Call) -> bool:
        """Whether the communicator of `call` gets these rules, unless an earlier entry fits it too."""
        of_distribution = {SINGLE_NODE.word: call.nodes == 1, ONE_PER_NODE.word: call.per_node == 1}
        return self.ranks_min <= call.ranks <= self.ranks_max and of_distribution.get(self.distribution, True)


@dataclass(frozen=True)
class JsonCollective:
    """The entries of one collective."""

    line: int
    name: str
    entries: tuple[JsonEntry, ...]


class _IgnoredError(Exception):
    def __init__(self, line: int, what: str, fix: str) -> None:
        consequence = "Open MPI ignores the whole file without a message, or ends with a memory error"
        self.fault = Fault("error", line, printable(shortened(what, 200)), consequence, fix)


class JsonRules:
    """What a text says.

    collectives  those before the place at which the library ignores the file, if it does
    faults       of the text's structure, in spite of which the library reads on
    ignored      the first fault because of which the library ignores the whole file; None: it reads it
    lenient      where other readers refuse the text: a line, and what is there
    members      of the document
    """

    def __init__(self, text: str) -> None:
        self.collectives: list[JsonCollective] = []
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
            entries = tuple(map(self._entry, member.value.content))
            self.collectives.append(JsonCollective(member.line, member.key, entries))

    def _entry(self, value: JsonValue) -> JsonEntry:
        content = _object(value, "an entry of a collective")
        ranks_min, ranks_max = (
            _as_int(self._integer(content, f"comm_size_{end}", default))
            for end, default in (("min", 0), ("max", LARGEST))
        )
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
        keys = tuple(each.key for each in content.members)
        found = tuple(map(self._rule, items))
        return JsonEntry(value.line, ranks_min, ranks_max, self._distribution(content), found, keys)

    def _distribution(self, content: JsonObject) -> str:
        value = content.first("comm_rank_distribution")
        if value is None:
            return "any"
        if not isinstance(value.content, str):
            fix = f"write one of {', '.join(_WORDS)}"
            raise _IgnoredError(value.line, "comm_rank_distribution is no text", fix)
        if value.content in _WORDS:
            return value.content
        what = f"unknown comm_rank_distribution {printable(shortened(value.content, 40))!r}"
        consequence = "the library takes it for any: the entry holds on all communicators of its sizes"
        self.faults.append(Fault("warning", value.line, what, consequence, f"write one of {', '.join(_WORDS)}"))
        return "any"

    def _rule(self, value: JsonValue) -> JsonRule:
        content = value.content
        if not isinstance(content, JsonObject):
            self._chooses_nothing(value.line, "a rule is no object")
            return JsonRule(value.line, 0, UNLIMITED, None)
        size_min, size_max = (
            _as_size(self._integer(content, f"msg_size_{end}", default))
            for end, default in (("min", 0), ("max", UNLIMITED))
        )
        faninout, requests = (_as_int(self._integer(content, key, 0)) for key in ("faninout", "reqs"))
        segment = self._integer(content, "seg_size", 0)
        named = content.first("alg")
        algorithm = None if named is None else named.content if isinstance(named.content, str) else named.whole
        if algorithm is None:
            self._chooses_nothing(value.line, "a rule has no alg" if named is None else "alg is no name and no number")
        keys = tuple(each.key for each in content.members)
        return JsonRule(value.line, size_min, size_max, algorithm, faninout, segment, requests, keys)

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
            return UNLIMITED
        raise _IgnoredError(value.line, f"{key} is no whole number of 64 bits and not inf", "write a whole number")


def _object(value: JsonValue, what: str) -> JsonObject:
    if isinstance(value.content, JsonObject):
        return value.content
    raise _IgnoredError(value.line, f"{what} is no object", "write {…}")


def _as_int(number: int) -> int:
    """`number` in a C int, which keeps its last 32 bits."""
    return (number + 2**31) % 2**32 - 2**31


def _as_size(number: int) -> int:
    """`number` in a C size_t, which has no sign."""
    return number % 2**64
