"""An assignment: one collective, an algorithm to write for it, and where it is tried. A seed draws all of it."""

import json
import random
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from timpani.campaign.folder.sealed_lines import DamageError, seal_object, unseal
from timpani.errors import UserError
from timpani.providers.algorithm_skeleton import skeleton
from timpani.reading import parse_json, read_bytes

FILE = "assignment.json"
FORMAT = "timpani-assignment"
ALGORITHM, START = "mine", "start"
"""Names of the student's algorithm, and of the unchanged file that it begins from."""

MAX_SEED = 1_000_000

_STEP = "write a new folder with `timpani course new`"


@dataclass(frozen=True)
class _Task:
    """An algorithm to write: Timpani's `reference` does the same, or as well."""

    collective: str
    reference: str
    words: str


_TASKS = (
    _Task("bcast", "binomial", "In every round each rank that has the message sends it to one that lacks it."),
    _Task("bcast", "knomial:radix=4", "In every step each rank with the message sends it to three ranks (radix 4)."),
    _Task("bcast", "scatter_allgather_ring", "Scatter the message over all ranks, then collect it along a ring."),
    _Task(
        "scatter",
        "binomial",
        "The root sends half of the blocks to one rank; each of the two divides its half in the same way.",
    ),
    _Task("gather", "binomial", "Pairs of ranks join their blocks, then pairs of pairs, until the root has all."),
    _Task("reduce", "binomial", "In every round half of the ranks that are left send their sum to another one."),
    _Task("reduce", "rabenseifner", "Halve the vector in every round, then gather the reduced parts at the root."),
    _Task("allgather", "bruck", "In round k each rank passes on all blocks that it has, to the rank 2^k before it."),
    _Task("allreduce", "recursive_doubling", "In round k the ranks whose numbers differ in bit k exchange their sums."),
    _Task("allreduce", "ring", "Reduce parts of the vector along a ring, then pass the reduced parts around it."),
    _Task("alltoall", "bruck", "Send many blocks in one message: log2(p) rounds for p ranks."),
    _Task("barrier", "dissemination", "In round k each rank notifies the rank 2^k after it."),
)
"""Each collective has a skeleton, and the reference is faster than it at a point of every assignment."""

_RANKS = ((8, 20), (12, 32), (16, 24))
_SMALL = (8, 16, 32, 64)
_LARGE = (64 << 10, 128 << 10, 256 << 10)


@dataclass(frozen=True)
class Assignment:
    """What a student is asked.

    words      the algorithm in a sentence
    reference  one of Timpani's algorithms of the collective that does it
    ranks, sizes  where it is tried; sizes in bytes, 0 for a barrier
    """

    seed: int
    collective: str
    reference: str
    words: str
    ranks: tuple[int, ...]
    sizes: tuple[int, ...]

    @classmethod
    def draw(cls, seed: int) -> Self:
        """The assignment of a seed: always the same."""
        drawn = random.Random(seed)  # noqa: S311 - to repeat, not a secret
        task = drawn.choice(_TASKS)
        ranks = drawn.choice(_RANKS)
        sizes = (0,) if task.collective == "barrier" else (drawn.choice(_SMALL), drawn.choice(_LARGE))
        return cls(seed, task.collective, task.reference, task.words, ranks, sizes)

    @property
    def name(self) -> str:
        """The student's algorithm, as `timpani verify` names it."""
        return f"{self.collective}/{ALGORITHM}"

    def start_file(self) -> tuple[str, str]:
        """The file of the algorithm that the student begins from, unchanged, and its text."""
        return skeleton(f"{self.collective}/{START}")

    def student_file(self) -> tuple[str, str]:
        """The student's file with its TODOs, and its text."""
        name, text = skeleton(f"{self.collective}/{ALGORITHM}")
        for mark, todo in _todos(self.words).items():
            before, found, after = text.partition(mark)
            if not found:
                raise AssertionError(f"the skeleton of {self.collective} has no {mark!r}")
            text = f"{before}{todo}{after}"
        return name, text

    def sealed(self) -> bytes:
        """The text of FILE, which shows that it was changed."""
        values = {"format": FORMAT, **asdict(self)}
        return seal_object(json.dumps(values, indent=1, ensure_ascii=False).encode(), FORMAT)


def _todos(words: str) -> Mapping[str, str]:
    """By the place in a skeleton: the same with a TODO."""
    begin = "void round(const CollectiveArguments& args, int rank, std::int64_t k, Steps& steps) {\n"
    task = f"    // TODO: {words}\n    // The lines below are right, and slow: replace them.\n"
    return {
        "/// Rounds that `round`": "/// TODO: how many rounds does your algorithm have?\n///\n/// Rounds that `round`",
        begin: begin + task,
        '"who described it,': '"TODO: who described it,',
        "    .claims =": "    // TODO: the claims of your algorithm.\n    .claims =",
    }


def read_assignment(folder: Path) -> Assignment:
    """The assignment in `folder`; UserError where it is missing or was changed."""
    path = folder / FILE
    try:
        raw = read_bytes(path, _STEP)
        values = parse_json(raw)
        unseal(raw, FORMAT)
        drawn = Assignment.draw(values["seed"])
    except FileNotFoundError:
        raise UserError(f"{folder} is no assignment: it has no {FILE}", _STEP) from None
    except (ValueError, TypeError, KeyError, DamageError) as error:
        raise UserError(f"{path} was changed ({error})", _STEP) from None
    if drawn.sealed() != raw:
        raise UserError(f"{path} is of another version of Timpani", _STEP)
    return drawn
