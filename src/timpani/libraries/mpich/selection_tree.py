"""MPICH's selection tree as a file: JSON objects in objects, whose keys are conditions and, last, an algorithm."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from timpani.errors import UserError, printable

_DEEPEST = 64  # the library's has 7 levels
_PAGE = 4096

_PART = re.compile(r'\s*(?:(?P<text>"(?:[^"\\\n]|\\[^\n])*")|(?P<mark>[{}:,])|(?P<other>\S))')

Kind = Literal["algorithms", "compositions", "shared memory"]
"""What a tree of the library chooses among, and so which of its trees it is."""

VARIABLES: Mapping[Kind, str] = {
    "algorithms": "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE",
    "compositions": "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE",
    "shared memory": "MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE",
}
"""By kind, the variable that names a file with another tree."""

_BEGINS = re.compile(r'\ufeff?\s*\{\s*"\s*collective\s*=')
_COMPOSITION = "composition="
SHARED_MEMORY = "algorithm=MPIDI_POSIX_"
"""How the keys of compositions and of algorithms in shared memory begin."""

_NAME = re.compile(r"algorithm=MPIR_(?P<collective>\w+?)_(?P<kind>intra|inter|allcomm)_(?P<name>\w+)")


@dataclass(frozen=True)
class Branch:
    """A key with the branches below it; branches next to each other are tried in order.

    key   without spaces, as the library compares it
    line  in the file, from 1; 0: in none
    """

    key: str
    below: tuple["Branch", ...] = ()
    line: int = 0


Tree = tuple[Branch, ...]


class TreeError(UserError):
    """A text that is no tree, and the line where that shows."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}", "write it again from the library's tree")
        self.line, self.problem = line, printable(what)


def parse(text: str) -> Tree:
    """The tree that `text` holds. TreeError, with the line, where it is no object of objects, or too deep.

    What follows the object is not read, as the library doesn't.
    """
    parts = _parts(text)
    line, first = next(parts)
    if first != "{":
        raise TreeError(line, f"a tree starts with {{, not with {_shown(first)}")
    return _branches(parts, 1)


def dump(tree: Tree) -> str:
    """The tree as a file, a key a line.

    MPICH maps the file and reads it up to a zero byte, which a file of whole pages lacks: it never is one.
    """
    text = "\n".join(_lines(tree, 0)) + "\n"
    return text if len(text.encode()) % _PAGE else text + "\n"


def _lines(tree: Tree, depth: int) -> Iterator[str]:
    indent = " " * depth
    yield indent + "{" if depth == 0 else "{"
    for number, branch in enumerate(tree, 1):
        comma = "," if number < len(tree) else ""
        name = f"{indent} {json.dumps(branch.key)}: "
        if not branch.below:
            yield f"{name}{{}}{comma}"
            continue
        inner = list(_lines(branch.below, depth + 1))
        yield name + inner[0]
        yield from inner[1:-1]
        yield inner[-1] + comma
    yield indent + "}"


def _parts(text: str) -> Iterator[tuple[int, str]]:
    line = 1
    for match in _PART.finditer(text):
        line += text.count("\n", match.start(), match.start(match.lastgroup or 0))
        if match["other"] == '"':
            raise TreeError(line, "a text in quotation marks has no end")
        yield line, match[match.lastgroup or 0]
    raise TreeError(line, "the text ends before the tree does")


def _branches(parts: Iterator[tuple[int, str]], depth: int) -> Tree:
    """What stands between a { that was read and its }."""
    found: list[Branch] = []
    line, part = next(parts)
    if part == "}":
        return ()
    while True:
        if not part.startswith('"'):
            raise TreeError(line, f"a key in quotation marks is missing before {_shown(part)}")
        try:
            key = "".join(json.loads(part).split())
        except ValueError:
            raise TreeError(line, f"{_shown(part)} is no text of JSON") from None
        _expect(parts, ":", f"after {_shown(part)}")
        _expect(parts, "{", f"as the value of {_shown(part)}: every value is an object")
        if depth == _DEEPEST:
            raise TreeError(line, f"nested deeper than {_DEEPEST} levels")
        found.append(Branch(key, _branches(parts, depth + 1), line))
        line, part = next(parts)
        if part == "}":
            return tuple(found)
        if part != ",":
            raise TreeError(line, f"a comma or }} is missing before {_shown(part)}")
        line, part = next(parts)


def _expect(parts: Iterator[tuple[int, str]], mark: str, where: str) -> None:
    line, part = next(parts)
    if part != mark:
        raise TreeError(line, f"{_shown(part)} in place of {mark} {where}")


def _shown(part: str) -> str:
    return part if len(part) <= 40 else part[:40] + "…"


def leaves(tree: Iterable[Branch]) -> Iterator[Branch]:
    """Every algorithm in it."""
    for branch in tree:
        if is_algorithm(branch):
            yield branch
        else:
            yield from leaves(branch.below)


def is_algorithm(branch: Branch) -> bool:
    """Whether it names an algorithm; what is below it are the algorithm's parameters."""
    return branch.key.startswith(("algorithm=", _COMPOSITION))


@dataclass(frozen=True)
class TreeAlgorithm:
    """An algorithm that a tree names: of which collective, for `intra` or `inter` communicators or `allcomm`."""

    collective: str
    kind: str
    name: str


def tree_algorithm(branch: Branch) -> TreeAlgorithm | None:
    """What `branch` names; None for what is no algorithm of MPIR's."""
    match = _NAME.fullmatch(branch.key)
    return TreeAlgorithm(match["collective"].lower(), match["kind"], match["name"]) if match else None


def kind_of(branch: Branch) -> Kind | None:
    """The tree that the choice which `branch` names belongs into; None where it names no choice of any."""
    if branch.key.startswith(_COMPOSITION):
        return "compositions"
    if branch.key.startswith(SHARED_MEMORY):
        return "shared memory"
    return "algorithms" if tree_algorithm(branch) else None


def kind_of_text(text: str) -> Kind | None:
    """The tree that `text` seems to be, right or wrong; None where it begins like none."""
    if not _BEGINS.match(text):
        return None
    if _COMPOSITION in text:
        return "compositions"
    return "shared memory" if SHARED_MEMORY in text else "algorithms"


def choosing_nothing(choice: Branch) -> Branch:
    """A branch below `comm_type=intra` by which a tree chooses nothing, so that the library asks another tree.

    A branch must have something below it. So `choice` is for two groups of ranks, which such a communicator is not.
    """
    return Branch("comm_type=inter", (choice,))


def below(tree: Tree, key: str) -> Tree:
    """The branches below the branch `key`, of two the last; nothing without such a branch."""
    return next((branch.below for branch in reversed(tree) if branch.key == key), ())
