"""Find the prose of a file: paragraphs of documents, comments, docstrings and messages.

Code in a sentence counts as one word, `CODE`: spans in backticks, and what an f-string inserts.
"""

import ast
import io
import re
import textwrap
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

CODE = "CODE"

_SPAN = re.compile(r"(`+)(?:(?!\1).)+\1")
_LINK = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
_HEADING = re.compile(r"#+ |\s*<")
_COLUMNS = re.compile(r"\s*\S+(?: \S+){0,3} {2,}\S")
"""A row of an aligned list: `name    what it holds`."""
_MIN_MESSAGE_WORDS = 3

_C_TOKEN = re.compile(
    r"""R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"|"(?P<string>(?:\\.|[^"\\\n])*)"|'(?:\\.|[^'\\\n])+'"""
    r"""|//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/""",
    re.DOTALL,
)
_C_TEST = re.compile(r"^TEST\((\w+)\)", re.MULTILINE)
_HASH_TOKEN = re.compile(r"""(?:"(?P<string>[^"\n]*)"|'[^'\n]*')|(?:^|(?<=\s))#(?!!)(?P<line>[^\n]*)""", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_MARKUP = re.compile(r"\{%.*?%\}|<[^>]*>", re.DOTALL)


@dataclass(frozen=True)
class Passage:
    """Text that is read in one go, such as a paragraph: its lines with their numbers in the file, from 1."""

    lines: tuple[tuple[int, str], ...]

    @property
    def text(self) -> str:
        return " ".join(text for _, text in self.lines)

    def line_at(self, offset: int) -> int:
        """The file's line of the character at `offset` of `text`."""
        for number, text in self.lines:
            if offset <= len(text):
                return number
            offset -= len(text) + 1
        return self.lines[-1][0]


def passages(path: Path) -> list[Passage]:
    """The prose of a file, by its suffix; none of a file whose kind is unknown."""
    text = path.read_text(encoding="utf-8")
    suffix = path.suffix
    if suffix == ".md":
        return list(_document(text))
    if suffix == ".py":
        return [*_python_strings(text), *_python_comments(text)]
    if suffix in {".c", ".cpp", ".hpp", ".h", ".def", ".js", ".css"}:
        return list(_tokens(text, _C_TOKEN))
    if suffix == ".jinja":
        return list(_paragraphs(enumerate(_MARKUP.sub("\n\n", _PLACEHOLDER.sub(CODE, text)).splitlines(), 1)))
    if suffix == ".toml" or path.name in {"CMakeLists.txt", "Makefile"} or text.startswith("#!"):
        return list(_tokens(text, _HASH_TOKEN))
    return []


def function_names(path: Path) -> list[tuple[int, str]]:
    """The functions of a Python file, and the tests of a C++ file with `test_` before them, each with its line."""
    text = path.read_text(encoding="utf-8") if path.suffix in {".py", ".cpp"} else ""
    if path.suffix == ".cpp":
        return [(text.count("\n", 0, test.start()) + 1, f"test_{test[1]}") for test in _C_TEST.finditer(text)]
    return [(node.lineno, node.name) for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]


def document_lines(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of a Markdown document outside its fenced blocks; an empty line stands for a block."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield number, ""
        elif not fenced:
            yield number, line


def _document(text: str) -> Iterator[Passage]:
    pending: list[tuple[int, str]] = []
    for number, line in document_lines(text):
        if line.lstrip().startswith("|"):
            yield from _paragraphs(pending)
            pending = []
            for cell in _masked(line).strip().strip("|").split("|"):
                yield from _paragraphs([(number, cell)])
        else:
            pending.append((number, line))
    yield from _paragraphs(pending)


def _masked(text: str) -> str:
    """Put CODE in place of code, and keep that a command is Timpani's: what a program 'says' is checked."""
    return _LINK.sub(r"\1", _SPAN.sub(lambda span: f"timpani {CODE}" if span[0][1:9] == "timpani " else CODE, text))


def _paragraphs(lines: Iterable[tuple[int, str]]) -> Iterator[Passage]:
    """Join lines up to an empty line, a list's next item, a heading or a row of an aligned list."""
    part: list[tuple[int, str]] = []
    for number, line in lines:
        starts = not line.strip() or _ITEM.match(line) or _HEADING.match(line) or _COLUMNS.match(line)
        if starts and part:
            yield _passage(part)
            part = []
        if line.strip():
            part.append((number, line))
        if _HEADING.match(line):
            yield _passage(part)
            part = []
    if part:
        yield _passage(part)


def _passage(lines: list[tuple[int, str]]) -> Passage:
    # A span in backticks may cross a line: mask the paragraph, then cut it where its lines end.
    joined = _masked("\n".join(text.strip() for _, text in lines).replace("`\n", "` \n"))
    cut = joined.split("\n")
    numbers = [number for number, _ in lines]
    return Passage(tuple((numbers[min(i, len(numbers) - 1)], _ITEM.sub("", text)) for i, text in enumerate(cut)))


def _python_strings(text: str) -> Iterator[Passage]:
    tree = ast.parse(text)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    inside -= {id(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            if id(node) in docstrings:
                yield from _paragraphs(enumerate(textwrap.dedent(node.value).splitlines(), node.lineno))
            else:
                yield from _message(node.lineno, node.value)
        elif isinstance(node, ast.JoinedStr):
            parts = (str(each.value) if isinstance(each, ast.Constant) else CODE for each in node.values)
            yield from _message(node.lineno, "".join(parts))


def _message(number: int, text: str) -> Iterator[Passage]:
    """Each line of a string literal that is text and not a name, a path or a format."""
    for line in text.splitlines():
        if len(re.findall(r"[A-Za-z]{2,}", line)) >= _MIN_MESSAGE_WORDS and " " in line.strip():
            yield Passage(((number, _masked(line)),))


def _python_comments(text: str) -> Iterator[Passage]:
    comments: list[tuple[int, str]] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            comments.append((token.start[0], token.string.lstrip("# ")))
    yield from _runs(comments)


def _runs(lines: list[tuple[int, str]]) -> Iterator[Passage]:
    """Paragraphs of the lines, those whose numbers follow each other together."""
    part: list[tuple[int, str]] = []
    for number, line in lines:
        if part and number != part[-1][0] + 1:
            yield from _paragraphs(part)
            part = []
        part.append((number, line))
    yield from _paragraphs(part)


def _tokens(text: str, token: re.Pattern[str]) -> Iterator[Passage]:
    """The comments and the messages of a language whose comments and strings `token` finds."""
    comments: list[tuple[int, str]] = []
    for found in token.finditer(text):
        groups = found.groupdict()
        number = text.count("\n", 0, found.start()) + 1
        if groups["string"] is not None:
            yield from _message(number, groups["string"])
        elif groups["line"] is not None:
            comments.append((number, groups["line"].lstrip("/#!< ")))
        elif groups.get("block") is not None:
            yield from _paragraphs((number + i, line.strip(" *")) for i, line in enumerate(groups["block"].split("\n")))
    yield from _runs(comments)
