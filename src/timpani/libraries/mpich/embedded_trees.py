"""The trees that an installed MPICH chooses by, the words that it understands in them, and its algorithms by name.

The library holds its trees as JSON texts between zero bytes in its read-only data. Three start equally: the tree of
compositions (`composition=…`), the general one, and that of shared memory (`algorithm=MPIDI_POSIX_…`), which is not
read here.
The words that it compares keys with lie there too, each before a zero byte; a linker lays one that ends like another
into that (seen in 4.0.2 and 5.0.2: `k=` is the end of `scatterv_k=`).

If a control variable forces an algorithm, the library checks that the algorithm can run the call. If a tree names it,
the library does not check. It also reads parameters that the tree leaves out from uninitialized memory: 5.0.2 ends with
a division by zero in a pipelined tree without `k`. Sources: csel_container.c, coll_algorithms.txt (4.0.2 and 5.0.1).
"""

import mmap
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.libraries.mpich.selection_tree import (
    Branch,
    Kind,
    Tree,
    TreeError,
    kind_of,
    leaves,
    parse,
    power_of_two_within,
    tree_algorithm,
)
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.selection import Rule, Span, common_part

_TREE = re.compile(rb"\x00(\{\s*\"collective=[^\x00]+)\x00")
_CHOICES: Mapping[Kind, re.Pattern[bytes]] = {
    "algorithms": re.compile(rb"(algorithm=MPIR_\w+)\x00"),
    "compositions": re.compile(rb"(composition=\w+)\x00"),
}
_PARAMETER = re.compile(rb"([a-z_]+=)\x00")
_LOADED = re.compile(r"\s(?P<path>/.*/libmpi[^/]*) \(0x")


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


_COMPOSITION = re.compile(r"composition_\w+")
_NUMBER = re.compile(r"\d{1,10}", re.ASCII)

_PARAMETER_NAMES = {"k": "radix", "chunk_size": "segment_bytes"}
"""Timpani's names of parameters, by the tree's."""

PARAMETERS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ("bcast", "tree"): {"tree_type": "kary", "k": "2", "is_non_blocking": "1"},
    ("bcast", "pipelined_tree"): {
        **{"tree_type": "kary", "k": "2", "is_non_blocking": "1"},
        **{"chunk_size": "8192", "recv_pre_posted": "0"},
    },
    ("allreduce", "tree"): {"tree_type": "knomial_1", "k": "2", "chunk_size": "0", "buffer_per_child": "0"},
    ("allreduce", "recursive_multiplying"): {"k": "2"},
    ("allreduce", "recexch"): {"k": "2", "single_phase_recv": "0"},
    ("allreduce", "k_reduce_scatter_allgather"): {"k": "2", "single_phase_recv": "0"},
    ("allreduce", "ring"): {},
    ("allgather", "k_brucks"): {"k": "2"},
    ("allgather", "recexch_doubling"): {"k": "2", "single_phase_recv": "0"},
    ("allgather", "recexch_halving"): {"k": "2", "single_phase_recv": "0"},
    ("alltoall", "k_brucks"): {"k": "2"},
    ("barrier", "k_dissemination"): {"k": "2"},
}
"""What the tree must say of algorithms that the library's tree doesn't name: the defaults of the control variables
that stand for these. barrier's recexch is not among them: of its two parameters the tree reads one."""

ON_POWERS_OF_TWO = {
    ("allgather", "recursive_doubling"),
    ("allgatherv", "recursive_doubling"),
    ("reduce_scatter", "noncommutative"),
    ("reduce_scatter_block", "noncommutative"),
}

_AN_ELEMENT_A_RANK = {("allreduce", "reduce_scatter_allgather"), ("reduce", "reduce_scatter_gather")}
_EQUAL_BLOCKS = {("reduce_scatter", "noncommutative")}
"""With blocks of different sizes it ends the program (4.0.2)."""

_ON_SEVERAL_LEVELS = "smp"


def needed_parameters(collective: str, name: str, library: EmbeddedTrees | None) -> Mapping[str, str] | None:
    """The parameters that a tree must give it, and what the library takes itself; None where that is unknown."""
    own = library.named_parameters if library else {}
    return own.get((collective, name), PARAMETERS.get((collective, name)))


def leaf(collective: str, algorithm: Algorithm, info: AlgorithmInfo, library: EmbeddedTrees) -> Branch | str:
    """The branch that names `algorithm`, or why the tree can't, in words."""
    name = info.library_name
    keys = [f"algorithm=MPIR_{collective.capitalize()}_{kind}_{name}" for kind in ("intra", "allcomm")]
    key = next((key for key in keys if key in library.choices["algorithms"]), None)
    if key is None:
        return "the library's selection tree has no such algorithm"
    parameters = needed_parameters(collective, name, library)
    if parameters is None:
        return "the parameters that the tree must give it are unknown"
    asked = dict(algorithm.parameters)
    defaults = {each.name: each.default for each in info.parameters}
    written = {}
    for word, default in parameters.items():
        if not library.reads(word):
            return f"the library's tree doesn't read its parameter {word}"
        parameter = _PARAMETER_NAMES.get(word, "")
        written[word] = str(asked.pop(parameter, defaults.get(parameter, default)))
    if asked:
        return f"the tree can't say {', '.join(asked)}"
    return Branch(key, tuple(Branch(f"{word}={value}") for word, value in written.items()))


def algorithm_of(branch: Branch, catalogue: Catalogue) -> Algorithm | None:
    """What `branch` names, under its canonical name where the catalogue has it, with parameters that aren't default;
    a composition by the end of its name: `composition_alpha`."""
    found = tree_algorithm(branch)
    if found is None:
        composition = _COMPOSITION.search(branch.key)
        return Algorithm(catalogue.provider, composition[0]) if composition else None
    infos = catalogue.algorithms.get(found.collective, ())
    info = next((each for each in infos if each.library_name == found.name), None)
    if info is None or found.kind == "inter":
        return Algorithm(catalogue.provider, found.name)
    values = dict(each.key.partition("=")[::2] for each in branch.below)
    words = {name: word for word, name in _PARAMETER_NAMES.items()}
    written = {each: values.get(words.get(each.name, ""), "") for each in info.parameters}
    numbers = {each: int(text) for each, text in written.items() if _NUMBER.fullmatch(text)}
    differing = [(each.name, number) for each, number in numbers.items() if number != each.default]
    return Algorithm(catalogue.provider, info.name, tuple(sorted(differing)))


def guarded(collective: str, algorithm: Branch, otherwise: Tree) -> Tree:
    """`algorithm` where it can serve a call, else `otherwise`."""
    found = tree_algorithm(algorithm)
    name = found.name if found else ""
    if name == _ON_SEVERAL_LEVELS:
        return (Branch("comm_hierarchy=parent", (algorithm,)), Branch("comm_hierarchy=any", otherwise))
    if (collective, name) in _AN_ELEMENT_A_RANK:
        return (Branch("count<pow2", otherwise), Branch("count=any", (algorithm,)))
    if (collective, name) in _EQUAL_BLOCKS:
        return (Branch("is_block_regular=yes", (algorithm,)), Branch("is_block_regular=no", otherwise))
    return (algorithm,)


def supported_calls(rule: Rule, name: str) -> Iterable[Rule]:
    """`rule` where the library's algorithm `name` can run, by its number of ranks and elements of one byte."""
    operation = (rule.collective, name)
    if name == _ON_SEVERAL_LEVELS:
        several = common_part(rule.per_node, Span(2))
        return (replace(rule, per_node=several),) if several else ()
    if operation in ON_POWERS_OF_TWO:
        return tuple(replace(rule, ranks=Span(ranks, ranks)) for ranks in _powers(rule.ranks) if ranks in rule.ranks)
    if operation in _AN_ELEMENT_A_RANK:
        return tuple(
            replace(rule, ranks=ranks, sizes=sizes)
            for power in _powers(rule.ranks)
            if (ranks := common_part(rule.ranks, Span(power, 2 * power - 1)))
            and (sizes := common_part(rule.sizes, Span(power)))
        )
    return (rule,)


def _powers(ranks: Span) -> Iterable[int]:
    """The powers of two that ranks of the span are compared with."""
    last = 2**20 if ranks.last is None else max(ranks.last, 1)
    power = power_of_two_within(max(ranks.first, 1))
    while power <= last:
        yield power
        power *= 2
