"""The selection tree that an installed MPICH chooses by, and the words that it understands in one.

The library holds its trees as JSON texts between zero bytes in its read-only data. Three start equally: that of shared
memory (`algorithm=MPIDI_POSIX_…`), that of compositions (`composition=…`), and the general one, which a file replaces.
The words that it compares keys with lie there too, each before a zero byte; a linker lays one that ends like another
into that (seen in 4.0.2 and 5.0.2: `k=` is the end of `scatterv_k=`).
"""

import mmap
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.mpich.selection_tree import (
    Tree,
    TreeError,
    is_composition,
    is_of_shared_memory,
    leaves,
    parse,
    tree_algorithm,
)
from timpani.native.build import build
from timpani.native.mpi import Mpi

_TREE = re.compile(rb"\x00(\{\s*\"collective=[^\x00]+)\x00")
_ALGORITHM = re.compile(rb"(algorithm=MPIR_\w+)\x00")
_COMPOSITION = re.compile(rb"(composition=\w+)\x00")
_SHARED_MEMORY = re.compile(rb"\x00(algorithm=MPIDI_POSIX_\w+)(?=\x00)")
_PARAMETER = re.compile(rb"([a-z_]+=)\x00")
_LOADED = re.compile(r"=> (?P<path>/.*/libmpi[^/]*) \(0x")


@dataclass(frozen=True)
class EmbeddedTree:
    """A library's tree.

    tree          which algorithm is taken
    algorithms    every key that names an algorithm which the library knows, also those that its tree doesn't name
    words         what the names of parameters, with their =, are the ends of
    compositions  the tree that is asked before, by CH4 alone; empty without one
    composed      the keys that name a composition which the library knows
    shared        the keys that name an algorithm in shared memory which the library knows; none in a build without
                  modules for shared memory, which holds the tree all the same and never reads it
    of_node       the tree that is asked for the part of a collective on a node
    """

    tree: Tree
    algorithms: frozenset[str]
    words: frozenset[str]
    compositions: Tree = ()
    composed: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    of_node: Tree = ()

    @property
    def of_compositions(self) -> "EmbeddedTree":
        """The tree of compositions and what it may name, in place of that of algorithms."""
        return replace(self, tree=self.compositions, algorithms=self.composed)

    @property
    def of_shared_memory(self) -> "EmbeddedTree":
        """What the tree of shared memory may name, in place of algorithms; any collective may be in it."""
        return replace(self, algorithms=self.shared)

    def reads(self, parameter: str) -> bool:
        """Whether it knows an algorithm's parameter."""
        return any(word.endswith(f"{parameter}=") for word in self.words)

    @cached_property
    def named_parameters(self) -> Mapping[tuple[str, str], Mapping[str, str]]:
        """By collective and name, the parameters of each algorithm that the tree names, with their values."""
        return {
            (found.collective, found.name): dict(each.key.partition("=")[::2] for each in branch.below)
            for branch in leaves(self.tree)
            if (found := tree_algorithm(branch))
        }


@lru_cache
def embedded_tree(mpi: Mpi) -> EmbeddedTree:
    """The tree of `mpi`. UserError if it is not found in the files that its programs load."""
    for path in _files(mpi):
        if found := read_library(path):
            return found
    raise UserError(
        f"{mpi} holds no selection tree that could be changed", "set MPIR_CVAR_<OP>_INTRA_ALGORITHM, one for all sizes"
    )


def read_library(path: Path) -> EmbeddedTree | None:
    """What the library, or the program, at `path` holds; None where it holds no general tree."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        trees = [tree for text in _TREE.findall(data) if (tree := _tree(text))]
        general = [tree for tree in trees if all(each.key.startswith("algorithm=MPIR_") for each in leaves(tree))]
        if not general:
            return None
        of_compositions = [tree for tree in trees if all(map(is_composition, leaves(tree)))]
        algorithms, composed, shared, words = (
            frozenset(name.decode() for name in pattern.findall(data))
            for pattern in (_ALGORITHM, _COMPOSITION, _SHARED_MEMORY, _PARAMETER)
        )
        of_node = [tree for tree in trees if all(map(is_of_shared_memory, leaves(tree)))]
    compositions, shared_memory = (max(each, key=len, default=()) for each in (of_compositions, of_node))
    return EmbeddedTree(max(general, key=len), algorithms, words, compositions, composed, shared, shared_memory)


def has_node_algorithms(mpi: Mpi) -> bool:
    """Whether the library was built with algorithms in shared memory, and reads the tree that chooses among them."""
    try:
        return bool(embedded_tree(mpi).shared)
    except UserError:
        return False


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
