"""MPICH's selection tree as a file: JSON objects in objects, whose keys are conditions and, last, an algorithm."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from timpani.errors import UserError, printable, shortened
from timpani.libraries.json_text import JsonObject, JsonValue, NotJsonError, read_document

_PAGE = 4096

Kind = Literal["algorithms", "compositions"]
"""What a tree of the library chooses among, and so which of its trees it is."""

VARIABLES: Mapping[Kind, str] = {
    "algorithms": "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE",
    "compositions": "MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE",
}
"""By kind, the variable that names a file with another tree."""

_BEGINS = re.compile(r'\ufeff?\s*\{\s*"\s*collective\s*=')
_COMPOSITION = "composition="
_SHARED_MEMORY = "algorithm=MPIDI_POSIX_"

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
    try:
        document = read_document(text, whole=False)
    except NotJsonError as error:
        raise TreeError(error.line, str(error)) from None
    if document.lenient:
        raise TreeError(*document.lenient[0])
    return _branches(document.value, "a tree")


def _branches(value: JsonValue, name: str) -> Tree:
    if not isinstance(value.content, JsonObject):
        raise TreeError(value.line, f"{name} is no object: every value is an object")
    return tuple(
        Branch("".join(each.key.split()), _branches(each.value, f"the value of {shortened(each.key, 40)!r}"), each.line)
        for each in value.content.members
    )


def dump(tree: Tree) -> str:
    """The tree as a file, a key a line.

    MPICH maps the file and reads it up to a zero byte, which a file of whole pages lacks: it never is one.
    """
    text = json.dumps(_objects(tree), indent=1) + "\n"
    return text if len(text.encode()) % _PAGE else text + "\n"


def _objects(tree: Tree) -> dict[str, Any]:
    return {branch.key: _objects(branch.below) for branch in tree}


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
    """The tree into which the choice that `branch` names belongs; None where it names none."""
    if branch.key.startswith(_COMPOSITION):
        return "compositions"
    return "algorithms" if tree_algorithm(branch) else None


def kind_of_text(text: str) -> Kind | Literal["shared memory"] | None:
    """The tree that `text` seems to be, right or wrong; None where it begins like none."""
    if not _BEGINS.match(text):
        return None
    if _COMPOSITION in text:
        return "compositions"
    return "shared memory" if _SHARED_MEMORY in text else "algorithms"


def choosing_nothing(choice: Branch) -> Branch:
    """A branch below `comm_type=intra` by which a tree chooses nothing, so that the library asks another tree.

    A branch must have something below it. So `choice` is for two groups of ranks, which such a communicator is not.
    """
    return Branch("comm_type=inter", (choice,))


def below(tree: Tree, key: str) -> Tree:
    """The branches below the branch `key`, of two the last; nothing without such a branch."""
    return next((branch.below for branch in reversed(tree) if branch.key == key), ())
