"""A JSON text with the line of each value: strict JSON, and where it is what Open MPI 6's reader alone accepts.

That reader accepts a comma before a closing bracket, a byte order mark, line ends in texts and any escape. It keeps all
keys of an object, also equal ones, and takes a whole number that exceeds 64 bits for a fraction
(`opal/util/json/3rd-party/json.c`).
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from timpani.errors import shortened

MAX_DEPTH = 64
"""Of nested values; Open MPI's rules have 6, MPICH's trees 7, and some more with rules in them."""

_BYTE_ORDER_MARK = "\ufeff"
_MAX_INT = 2**63
_TOKEN = re.compile(
    r"[ \t\r\n\v\f]*(?:"
    r'(?P<text>"(?:[^"\\]|\\(?s:.))*")'
    r"|(?P<number>-?(?:0|[1-9]\d*)(?P<fraction>\.\d+)?(?P<exponent>[eE][+-]?\d+)?(?![\w.+-]))"
    r"|(?P<word>true|false|null)(?!\w)"
    r"|(?P<mark>[{}\[\]:,])"
    r"|(?P<other>\S))",
    re.ASCII,
)

_BAD_UNICODE = re.compile(r"(?<!\\)(?:\\\\)*\\u(?![0-9a-fA-F]{4})")
_ESCAPE = re.compile(r"\\(?:u(?P<code>[0-9a-fA-F]{4})|(?P<letter>.))", re.DOTALL)
_CONTROL = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _escaped(match: re.Match[str]) -> str:
    """What an escape stands for: of an unknown one the letter."""
    if match["code"]:
        return chr(int(match["code"], 16))
    return _CONTROL.get(match["letter"], match["letter"])


@dataclass(frozen=True)
class JsonMember:
    """A key of an object, its line, and its value."""

    key: str
    line: int
    value: "JsonValue"


@dataclass(frozen=True)
class JsonValue:
    """A value and the line on which it begins, counted from 1.

    content  a text, a whole number, a tuple of values (an array), an object, a float, a bool or None
    """

    line: int
    content: "str | int | float | bool | tuple[JsonValue, ...] | JsonObject | None"

    @property
    def whole(self) -> int | None:
        """The whole number that it is; None where it is something else."""
        return self.content if isinstance(self.content, int) and not isinstance(self.content, bool) else None


@dataclass(frozen=True)
class JsonObject:
    """The members of an object, in the order of the text."""

    members: tuple[JsonMember, ...]

    def first(self, key: str) -> JsonValue | None:
        """The value of the first member with this key."""
        return next((each.value for each in self.members if each.key == key), None)


class NotJsonError(Exception):
    """The text is not even JSON for that reader, and the line where this shows."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line


@dataclass(frozen=True)
class JsonDocument:
    """The value of a text, and where it is no JSON for other readers: lines, with what they refuse there."""

    value: JsonValue
    lenient: tuple[tuple[int, str], ...]


def read_document(text: str, *, whole: bool = True) -> JsonDocument:
    """The document in `text`; NotJsonError where the reader finds none, or where it is nested too deeply.

    whole  whether nothing may follow the document
    """
    reader = _Reader(text.removeprefix(_BYTE_ORDER_MARK))
    if text.startswith(_BYTE_ORDER_MARK):
        reader.lenient.append((1, "a byte order mark"))
    value = reader.value(*reader.next("a value"), depth=1)
    if whole and (following := next(reader.tokens, None)):
        raise NotJsonError(following[0], f"{_shown(following[2])} follows the end of the document")
    return JsonDocument(value, tuple(reader.lenient))


_Token = tuple[int, str, str]


class _Reader:
    def __init__(self, text: str) -> None:
        self.last_line = 1
        self.tokens = self._tokens(text)
        self.lenient: list[tuple[int, str]] = []

    def _tokens(self, text: str) -> Iterator[_Token]:
        line = 1
        for match in _TOKEN.finditer(text):
            kind = next(name for name in ("text", "number", "word", "mark", "other") if match[name] is not None)
            line += text.count("\n", match.start(), match.start(kind))
            self.last_line = line
            if kind == "number" and (match["fraction"] or match["exponent"]):
                kind = "fraction"
            yield line, kind, match[0].strip()

    def next(self, wanted: str) -> _Token:
        token = next(self.tokens, None)
        if token is None:
            raise NotJsonError(self.last_line, f"the text ends where {wanted} should stand")
        return token

    def value(self, line: int, kind: str, word: str, depth: int) -> JsonValue:
        if depth > MAX_DEPTH:
            raise NotJsonError(line, f"values are nested deeper than {MAX_DEPTH} levels")
        if kind == "text":
            return JsonValue(line, self._text(line, word))
        if kind in ("number", "fraction"):
            return JsonValue(line, _number(kind, word))
        if kind == "word":
            return JsonValue(line, {"true": True, "false": False, "null": None}[word])
        if word == "{":
            return JsonValue(line, JsonObject(tuple(self._member(*key, depth + 1) for key in self._each("a key", "}"))))
        if word == "[":
            return JsonValue(line, tuple(self.value(*one, depth + 1) for one in self._each("a value", "]")))
        raise NotJsonError(line, f"{_shown(word)} stands where a value should")

    def _each(self, wanted: str, bracket: str) -> Iterator[_Token]:
        """The first token of each element before the closing bracket; the caller reads the rest of an element."""
        token = self.next(f"{wanted} or {bracket}")
        while token[2] != bracket:
            yield token
            line, _, word = self.next(f"a comma or {bracket}")
            if word == bracket:
                return
            if word != ",":
                raise NotJsonError(line, f"a comma or {bracket} is missing before {_shown(word)}")
            token = self.next(f"{wanted} or {bracket}")
            if token[2] == bracket:
                self.lenient.append((token[0], "a comma before a closing bracket"))

    def _member(self, line: int, kind: str, word: str, depth: int) -> JsonMember:
        if kind != "text":
            raise NotJsonError(line, f"{_shown(word)} stands where a key in quotation marks should")
        at, _, colon = self.next("a colon")
        if colon != ":":
            raise NotJsonError(at, f"a colon is missing after {_shown(word)}")
        return JsonMember(self._text(line, word), line, self.value(*self.next("a value"), depth))

    def _text(self, line: int, word: str) -> str:
        try:
            return str(json.loads(word))
        except ValueError:
            pass
        self.lenient.append((line, f"a line end or an unknown escape in {_shown(word)}"))
        if _BAD_UNICODE.search(word):
            raise NotJsonError(line, f"{_shown(word)} is no text of JSON")
        return _ESCAPE.sub(_escaped, word[1:-1])


def _number(kind: str, word: str) -> int | float:
    if kind == "fraction" or len(word) > 20:
        return float(word)
    number = int(word)
    return number if -_MAX_INT < number < _MAX_INT else float(number)


def _shown(word: str) -> str:
    return shortened(word, 40)
