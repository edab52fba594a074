"""The numbers of a rules file as the library finds them: C's `%li`, over everything else."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from timpani.libraries.openmpi.tuned_rules.collectives import MAX_LONG

_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]*|0[0-7]*|[1-9][0-9]*)", re.ASCII)
_WORD = re.compile(r"[^\s#]{0,40}")
_LETTERS = re.compile(r"[^ \t\n\v\f\r0-9+#-]*")
_SPACE = re.compile(r"[ \t\n\v\f\r]*")
_BLANKS = re.compile(r"[ \t]*")
_HEADER = re.compile(r"rule-file-version-[ \t\n\v\f\r]*[+-]?(\d{1,9})", re.ASCII)
_MAX_DIGITS = 40
"""Of a number: more than C's longest has, and no work to read."""


@dataclass(frozen=True)
class Number:
    """A number and its line; `written` is the word that it begins, where that is not the number as people write it."""

    value: int
    line: int
    written: str = ""


@dataclass
class Numbers:
    """A text's numbers from its start to its end.

    words  what stands between them outside of comments, with its line: the library reads over it, letter by letter
    """

    text: str
    at: int = 0
    words: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", self.text))]

    def header(self) -> int | None:
        """The version in the header, which is used; None where the text doesn't start with one."""
        if match := _HEADER.match(self.text):
            self.at = match.end()
            return int(match[1])
        return None

    def line(self) -> int:
        """Where reading has come to, counted from 1."""
        return bisect_right(self._starts, self.at)

    def next(self) -> Number | None:
        """The next number; None at the end."""
        while True:
            self.at = _end(_SPACE, self.text, self.at)
            if self.at == len(self.text):
                return None
            if match := _NUMBER.match(self.text, self.at):
                line = self.line()
                self.at = match.end()
                value, written = _value(match[0]), self._word(match.start())
                return Number(value, line, "" if written == str(value) else written)
            if self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                self._skip_letters()

    def digit_follows(self) -> bool:
        """Whether the next character but blanks is a digit: a line's fifth number in version 2."""
        self.at = _end(_BLANKS, self.text, self.at)
        return self.text[self.at : self.at + 1].isdecimal() and self.text[self.at].isascii()

    def _skip_letters(self) -> None:
        line = self.line()
        if not self.words or self.words[-1][0] != line:
            self.words.append((line, self._word(self.at)))
        if self.text[self.at] not in "+-":
            self.at = _end(_LETTERS, self.text, self.at)
        else:  # C takes a sign for the start of a number, and gives up at what follows
            self.at += 1 if self.text[self.at + 1 : self.at + 2] in ("", "#") else 2

    def _word(self, at: int) -> str:
        return self.text[at : _end(_WORD, self.text, at)]


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _value(written: str) -> int:
    """C's reading: 010 is eight, 0x is nought, and what is too large is the largest."""
    sign = -1 if written[0] == "-" else 1
    digits = written.lstrip("+-").lower()
    if len(digits) > _MAX_DIGITS:
        return sign * MAX_LONG
    base = 16 if digits.startswith("0x") else 8 if digits.startswith("0") else 10
    return sign * min(int(digits.removeprefix("0x") or "0", base), MAX_LONG)
