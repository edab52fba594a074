"""The trees that an installed MPICH chooses by, and the words that it understands in them.

The library holds its trees as JSON texts between zero bytes in its read-only data. Three start equally: the tree of
compositions (`composition=…`), the general one, and that of shared memory (`algorithm=MPIDI_POSIX_…`), which is not
read here.
The words that it compares keys with lie there too, each before a zero byte; a linker lays one that ends like another
into that (seen in 4.0.2 and 5.0.2: `k=` is the end of `scatterv_k=`).
"""

import mmap
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.mpich.selection_tree import Kind, Tree, TreeError, kind_of, leaves, parse, tree_algorithm
from timpani.native.build import build
from timpani.native.mpi import Mpi

_TREE = re.compile(rb"\x00(\{\s*\"collective=[^\x00]+)\x00")
_CHOICES: Mapping[Kind, re.Pattern[bytes]] = {
    "algorithms": re.compile(rb"(algorithm=MPIR_\w+)\x00"),
    "compositions": re.compile(rb"(composition=\w+)\x00"),
}
_PARAMETER = re.compile(rb"([a-z_]+=)\x00")
_LOADED = re.compile(r"=> (?P<path>/.*/libmpi[^/]*) \(0x")


@dataclass(frozen=True)
class EmbeddedTrees:
    """A library's trees.

    trees    by kind. A communicator's calls ask that of compositions first, in CH4 alone; all else is left to that of
             algorithms
    choices  by kind, every key that names a choice which the library knows, also if its tree doesn't name it
    words    what the names of parameters, with their =, are the ends of
    """

    trees: Mapping[Kind, Tree]
    choices: Mapping[Kind, frozenset[str]]
    words: frozenset[str]

    def collectives(self, kind: Kind) -> frozenset[str]:
        """The keys of the collectives that may be in a tree."""
        return frozenset(branch.key for branch in self.trees[kind])

    def reads(self, parameter: str) -> bool:
        """Whether it knows an algorithm's parameter."""
        return any(word.endswith(f"{parameter}=") for word in self.words)

    @cached_property
    def named_parameters(self) -> Mapping[tuple[str, str], Mapping[str, str]]:
        """By collective and name, the parameters of each algorithm that the tree names, with their values."""
        return {
            (found.collective, found.name): dict(each.key.partition("=")[::2] for each in branch.below)
            for branch in leaves(self.trees["algorithms"])
            if (found := tree_algorithm(branch))
        }


@lru_cache
def embedded_trees(mpi: Mpi) -> EmbeddedTrees:
    """The trees of `mpi`. UserError if they are not found in the files that its programs load."""
    for path in _files(mpi):
        if found := read_library(path):
            return found
    raise UserError(
        f"{mpi} holds no selection tree that could be changed", "set MPIR_CVAR_<OP>_INTRA_ALGORITHM, one for all sizes"
    )


def read_library(path: Path) -> EmbeddedTrees | None:
    """What the library, or the program, at `path` holds; None where it holds no general tree."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        found = [tree for text in _TREE.findall(data) if (tree := _tree(text))]
        choices = {kind: _texts(pattern, data) for kind, pattern in _CHOICES.items()}
        words = _texts(_PARAMETER, data)
    trees = {kind: max((each for each in found if _is_of(kind, each)), key=len, default=()) for kind in _CHOICES}
    return EmbeddedTrees(trees, choices, words) if trees["algorithms"] else None


def _texts(pattern: re.Pattern[bytes], data: mmap.mmap) -> frozenset[str]:
    return frozenset(text.decode() for text in pattern.findall(data))


def _is_of(kind: Kind, tree: Tree) -> bool:
    return all(kind_of(leaf) == kind for leaf in leaves(tree))


def _tree(text: bytes) -> Tree | None:
    try:
        return parse(text.decode())
    except (TreeError, UnicodeDecodeError):
        return None


def _files(mpi: Mpi) -> Iterator[Path]:
    """What a program of this library consists of, the program itself last: it may hold the library."""
    program = build(mpi) / "timpani-discover"
    answer = subprocess.run(
        ["ldd", program],  # noqa: S607 - the system's own
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **dict(mpi.environment)},
    )
    yield from (Path(match["path"]) for match in _LOADED.finditer(answer.stdout))
    yield program
