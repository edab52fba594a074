"""The I_MPI_ADJUST variables that a shell script sets, in whatever way the shell or the launcher takes them."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

_MAX_LINE_CHARACTERS = 10_000
_NAME = re.compile(r"I_MPI_ADJUST_(?P<operation>[A-Z_]{1,100})")
_ASSIGNMENT = re.compile(rf"{_NAME.pattern}=(?P<value>.*)", re.DOTALL)
_OPERATORS = frozenset("();<>|&")
_PRINTING = ("echo", "printf", "#")
_ASIDE = ("-genv", "-env", "setenv", "unset")
"""Words that a variable's name follows, and its value in a separate word; `unset` has none."""

_EXPANDED = re.compile(r"[$`]")
_ENTRY = re.compile(r"\d{1,9}(?::[\d@-]*)?", re.ASCII)


@dataclass(frozen=True)
class AdjustSetting:
    """A place that sets a variable.

    line        counted from 1
    collective  as the variable's name has it, in small letters
    value       None where it doesn't stand there: the shell computes it, or it is taken away
    exported    whether programs that the shell starts get it
    rest        what seems to belong to the value and is a command, since a semicolon ends the value
    """

    line: int
    collective: str
    value: str | None
    exported: bool
    rest: str = ""


def adjust_settings(text: str) -> Iterator[AdjustSetting]:
    """What a script sets, from the top; lines that name no such variable are the shell's own affair."""
    for number, line in enumerate(text.splitlines(), 1):
        if _NAME.search(line):
            yield from _of_line(number, line)


def _of_line(number: int, line: str) -> Iterator[AdjustSetting]:
    commands = _commands(line)
    if commands is None:
        if not line.lstrip().startswith("#"):
            yield from (AdjustSetting(number, each[1].lower(), None, True) for each in _NAME.finditer(line))
        return
    for words, following in pairwise([*commands, []]):
        if words[0] in _PRINTING:
            continue
        alone = all("=" in word for word in words)
        rest = following[0] if len(following) == 1 and _ENTRY.fullmatch(following[0]) else ""
        for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False):
            if match := _ASSIGNMENT.fullmatch(word):
                value = None if _EXPANDED.search(match["value"]) else match["value"]
                last = word == words[-1]
                yield AdjustSetting(number, match["operation"].lower(), value, not alone, rest if last else "")
            elif before in _ASIDE and (match := _NAME.fullmatch(word)):
                value = None if before == "unset" or _EXPANDED.search(after) else after
                yield AdjustSetting(number, match["operation"].lower(), value, True)


def _commands(line: str) -> list[list[str]] | None:
    """The words of each command of a line; None where the line alone has no meaning, as inside of a text."""
    if len(line) > _MAX_LINE_CHARACTERS:
        return None
    lexer = shlex.shlex(line, posix=True, punctuation_chars="".join(sorted(_OPERATORS)))
    lexer.whitespace_split = True
    try:
        words = list(lexer)
    except ValueError:
        return None
    parts = groupby(words, key=lambda word: bool(word) and set(word) <= _OPERATORS)
    return [list(part) for operator, part in parts if not operator]
