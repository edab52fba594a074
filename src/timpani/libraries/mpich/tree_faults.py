"""What is wrong with a selection tree: all that was seen to end a program under MPICH 4.0.2 and 5.0.2, or to do
something else than it seems to say."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from timpani.errors import printable, shortened
from timpani.libraries.mpich.algorithms import IN_PLACE
from timpani.libraries.mpich.embedded_trees import ON_POWERS_OF_TWO, EmbeddedTrees, needed_parameters
from timpani.libraries.mpich.selection_tree import (
    ASKED_OF,
    VARIABLES,
    Branch,
    Kind,
    Tree,
    TreeAlgorithm,
    is_algorithm,
    is_any,
    is_known,
    is_of_the_call,
    kind_of,
    limit,
    needs_last_any,
    tree_algorithm,
)
from timpani.libraries.tuning_file import Fault
from timpani.study.sizes import LARGEST

_AT_START = "MPI_Init ends with a failed assertion"
_AT_CALL = "the call ends with a failed assertion"
_FROM_OWN = "take this collective's branch from the library's tree"


@dataclass(frozen=True)
class _Place:
    """Where in the tree: which collective, the keys above, and which tree."""

    collective: str
    keys: tuple[str, ...] = ()
    kind: Kind = "algorithms"

    @property
    def after_call(self) -> bool:
        return any(is_of_the_call(key) for key in self.keys)


def faults(tree: Tree, library: EmbeddedTrees | None, kind: Kind = "algorithms") -> Iterator[Fault]:
    """All faults, from the top; those that depend on the library only where it is given.

    kind  which tree it is: calls for which the tree of compositions names nothing go to the tree of algorithms
    """
    yield from _repeated_branches(tree)
    for branch in tree:
        collective = branch.key.removeprefix("collective=")
        if collective == branch.key:
            yield _error(branch, f"'{branch.key}' where a collective= belongs", _AT_START, "put collectives on top")
        elif library and branch.key not in library.collectives(kind):
            yield _error(branch, f"the library has no collective {collective!r}", _AT_START, "correct or remove it")
        else:
            yield from _chain(branch, _Place(collective, kind=kind), library)
    if kind != "algorithms":
        return
    present = {branch.key for branch in tree}
    for branch in library.trees["algorithms"] if library else ():
        if branch.key not in present:
            collective = branch.key.removeprefix("collective=")
            what = f"no branch for {collective}: the file replaces the library's whole tree"
            yield Fault("error", None, what, f"the first {collective} ends with a failed assertion", _FROM_OWN)


def _chain(above: Branch, place: _Place, library: EmbeddedTrees | None) -> Iterator[Fault]:
    """What is wrong below a branch."""
    tree = above.below
    if not tree:
        yield _error(above, f"nothing is below '{above.key}'", _AT_START, "name an algorithm, or remove it")
        return
    yield from _repeated_branches(tree)
    for branch in tree:
        if is_algorithm(branch):
            yield from _algorithm(branch, tree, place, library)
        else:
            yield from _condition(branch, place, tree)
            yield from _chain(branch, replace(place, keys=(*place.keys, branch.key)), library)
    if not any(is_algorithm(branch) for branch in tree):
        yield from _last(tree, place)
        yield from _order(tree)


def _condition(branch: Branch, place: _Place, tree: Tree) -> Iterator[Fault]:
    key = branch.key
    what, *_ = key.replace("<", "=").split("=")
    if not is_known(key):
        yield _error(branch, f"unknown condition '{key}'", _AT_START, "use the conditions of the library's tree")
    elif is_any(key) and branch is not tree[-1]:
        yield _error(branch, f"'{key}' before other branches", _AT_START, "put it last")
    elif not is_any(key) and what in ASKED_OF and _conditions_on(place.collective) not in ASKED_OF[what]:
        why = f"'{key}' is no condition for a {place.collective}"
        yield _error(branch, why, _AT_CALL, "use ranks only, or the conditions that the library's tree uses here")
    asked = limit(key)
    if asked is None:
        return
    digits = key.partition("<")[2].removeprefix("=")
    if not digits.isdecimal() or int(digits[:19]) > LARGEST:
        yield _error(
            branch, f"'{key}' is limited by no whole number up to {LARGEST}", "it means another number", "correct it"
        )
    elif asked[0] == "comm_size" and "<=" not in key and place.after_call:
        what = f"'{key}' below a condition on the call"
        yield _warning(branch, what, f"it is met by {digits} ranks too: the library compares with <=", "write <=")


def _conditions_on(collective: str) -> str:
    """The collective whose conditions a nonblocking one shares."""
    blocking = collective.removeprefix("i")
    return blocking if any(blocking in each for each in ASKED_OF.values()) else collective


def _last(tree: Tree, place: _Place) -> Iterator[Fault]:
    """Whether some branch is taken in every case."""
    last = tree[-1]
    keys = {branch.key for branch in tree}
    quantity = last.key.partition("=")[0]
    if is_any(last.key) or quantity in ("comm_type", "is_multi_threaded"):
        return
    if needs_last_any(last.key):
        fix = f"add '{quantity.partition('<')[0]}=any' with an algorithm"
        yield _error(last, f"no branch for all else after '{last.key}'", _AT_START, fix)
    elif not {f"{quantity}=yes", f"{quantity}=no"} <= keys:
        yield _error(last, f"no branch for what '{last.key}' isn't", _AT_CALL, "add the other, or one =any")


def _order(tree: Tree) -> Iterator[Fault]:
    for before, branch in pairwise(tree):
        one, other = limit(before.key), limit(branch.key)
        if one and other and one[0] == other[0] and one[1] >= other[1]:
            what = f"'{branch.key}' after '{before.key}'"
            yield _warning(branch, what, "it is never reached", "put limits in ascending order")


def _algorithm(branch: Branch, tree: Tree, place: _Place, library: EmbeddedTrees | None) -> Iterator[Fault]:
    if len(tree) > 1:
        yield _error(branch, f"'{branch.key}' next to other branches", _AT_START, "put each below a condition")
    kind = kind_of(branch)
    if kind != place.kind:
        what = f"'{branch.key}' is no algorithm of this tree's"
        fix = f"correct it, or put it into the file of {VARIABLES[kind]}" if kind else "correct it"
        yield _error(branch, what, _AT_START, fix)
        return
    found = tree_algorithm(branch)
    if found is None:
        yield from _unnamed(branch, place, library)
        return
    if found.collective != place.collective:
        yield _error(branch, f"an algorithm of {found.collective} for {place.collective}", _AT_CALL, _FROM_OWN)
    elif library and branch.key not in library.choices[place.kind]:
        yield _error(
            branch, f"this library has no '{branch.key}'", _AT_START, "`timpani list algorithms` shows what it has"
        )
    elif {"intra": "comm_type=inter", "inter": "comm_type=intra"}.get(found.kind) in place.keys:
        yield _warning(branch, f"an algorithm for {found.kind}communicators for others", _AT_CALL, _FROM_OWN)
    else:
        yield from _parameters(branch, found, library)
        yield from _requirements(branch, found, place)


def _unnamed(branch: Branch, place: _Place, library: EmbeddedTrees | None) -> Iterator[Fault]:
    """What is wrong with a composition, whose key holds the collective."""
    if library and branch.key not in library.choices[place.kind]:
        yield _error(branch, f"this library has no '{branch.key}'", _AT_START, _FROM_OWN)
    elif f"MPIDI_{place.collective.capitalize()}_" not in branch.key:
        what = f"'{branch.key}' for {place.collective}, which is of another collective"
        yield _error(branch, what, _AT_START, _FROM_OWN)


def _parameters(branch: Branch, found: TreeAlgorithm, library: EmbeddedTrees | None) -> Iterator[Fault]:
    written = Counter(each.key.partition("=")[0] for each in branch.below)
    for word in needed_parameters(found.collective, found.name, library) or ():
        if not written[word]:
            consequence = "it is taken from memory that nobody filled: 5.0.2 divides by zero without k"
            yield _error(branch, f"{found.name} without its parameter {word}", consequence, f'add "{word}=…": {{}}')
    for each in branch.below:
        if library and not library.reads(each.key.partition("=")[0]):
            yield _warning(each, f"unknown parameter '{each.key}'", "the library ignores it", "remove it")


def _requirements(branch: Branch, found: TreeAlgorithm, place: _Place) -> Iterator[Fault]:
    """Whether it can be asked for what it can't do: a tree's choice is not checked as a control variable's is."""
    if (found.collective, found.name) in ON_POWERS_OF_TWO and "comm_size=pow2" not in place.keys:
        counts = [asked[1] for key in place.keys if (asked := limit(key)) and asked[0] == "comm_size"]
        if not counts or min(counts) & (min(counts) - 1):
            what = f"{found.name} where ranks may be no power of two"
            yield _warning(branch, what, "wrong data, or a failed assertion", "put it below 'comm_size=pow2'")
    if found.kind == "intra" and found.collective in ASKED_OF["is_sendbuf_inplace"]:
        wanted = "is_sendbuf_inplace=yes" if found.name == IN_PLACE else "is_sendbuf_inplace=no"
        if wanted not in place.keys:
            yield _warning(
                branch, f"{found.name} may be asked in place, or not", "wrong data", f"put it below '{wanted}'"
            )


def _repeated_branches(tree: Tree) -> Iterator[Fault]:
    seen = set()
    for branch in tree:
        if branch.key in seen:
            yield _warning(branch, f"'{branch.key}' again", "the last one counts, in the first one's place", "keep one")
        seen.add(branch.key)


def _error(branch: Branch, what: str, consequence: str, fix: str) -> Fault:
    return Fault("error", branch.line, _shown(what), consequence, fix)


def _warning(branch: Branch, what: str, consequence: str, fix: str) -> Fault:
    return Fault("warning", branch.line, _shown(what), consequence, fix)


def _shown(what: str) -> str:
    return printable(shortened(what, 200))
