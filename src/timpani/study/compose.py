"""A study from what was typed: a study's name or file, or operations, with options that take precedence."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from timpani.errors import UserError, unknown
from timpani.slices import Hook
from timpani.study.cell import split_algorithms
from timpani.study.defaults import DEFAULT_RANKS, DEFAULT_SIZES
from timpani.study.operations import COLLECTIVES, OPERATIONS
from timpani.study.study import ALL, Study, read_study
from timpani.study.trust import code_in, is_trusted, not_trusted, without_code


def compose(what: list[str], options: Mapping[str, Any], *, with_code: bool = True) -> Study:
    """The study that `what` names, with every option that isn't None in place of the study's own field.

    with_code  whether the study will be started: UserError if it is a file that names scripts, libraries and the like,
               and is not trusted. Without, these are left out.

    `what` is a shipped study's name, a study file, or one or more operations. `algorithms` holds for all of them. It is
    a list of names, or a text with commas between them: `default,chain:fanout=4,segment_bytes=8192,ring`.
    """
    given = {name: value for name, value in options.items() if value is not None}
    algorithms = split_algorithms(given.pop("algorithms")) if "algorithms" in given else None
    what = operation_names(what)
    base = _named_study(what, with_code=with_code)
    if base is None:
        strange = [name for name in what if name not in OPERATIONS]
        if strange:
            raise _unknown_operation(strange[0], [shipped.name for shipped in shipped_studies()])
        values: dict[str, Any] = {
            "collectives": dict.fromkeys(what, algorithms or (ALL,)),
            "ranks": DEFAULT_RANKS,
            "sizes": DEFAULT_SIZES,
        }
    else:
        values = base.model_dump(exclude_unset=True)  # a race has another default number of launches
        if algorithms:
            values["collectives"] = dict.fromkeys(values["collectives"], algorithms)
        for override in values.get("overrides", {}).values():
            override.update(dict.fromkeys(override.keys() & given.keys()))
    values |= given
    if values.get("method") == "osu":
        values = {**(values.get("osu") or {}), **values}
    return Study.check(values, "the command line" if given else "the study")


def operation_names(what: Iterable[str]) -> list[str]:
    """`what` with each operation by its own name where it was written in MPI's way: Allreduce, MPI_Bcast."""
    small = ((name, name.lower().removeprefix("mpi_")) for name in what)
    return [operation if operation in OPERATIONS else name for name, operation in small]


_KNOWN_AS = {
    "pingpong": "latency",
    "pt2pt": "latency",
    "bw": "bandwidth",
    "bibw": "bidirectional",
    "mbw_mr": "message_rate",
    "sendrecv": "bidirectional",
    "broadcast": "bcast",
    "all_reduce": "allreduce",
    "all_gather": "allgather",
    "all_to_all": "alltoall",
    "reducescatter": "reduce_scatter",
}
"""What other benchmarks (OSU, Intel's, NCCL's) call Timpani's operations, in small letters, without their prefix."""


def _unknown_operation(name: str, studies: list[str]) -> UserError:
    """The error for a name that is no operation."""
    if name in studies:
        return UserError(f"{name!r} is a study, and a study is measured alone", "leave the other names out")
    small = name.lower().removeprefix("osu_").removeprefix("mpi_")
    if small.removeprefix("i") in COLLECTIVES and small not in OPERATIONS:
        blocking = small.removeprefix("i")
        return UserError(f"{name!r} is non-blocking, and Timpani times blocking collectives", f"measure {blocking}")
    if nearest := _KNOWN_AS.get(small) or (small if small in OPERATIONS else None):
        return UserError(f"unknown study or operation {name!r}", f"did you mean {nearest}?")
    return unknown("study or operation", name, [*OPERATIONS, *studies], "timpani list studies")


def _named_study(what: list[str], *, with_code: bool) -> Study | None:
    """The study when `what` is one study; None when it must be operations."""
    if len(what) != 1:
        return None
    for shipped in shipped_studies():
        if shipped.name == what[0]:
            return shipped.study
    if not what[0].endswith(".toml"):
        return None
    file = Path(what[0])
    study = read_study(file)
    code = {} if is_trusted(file) else code_in(study.variants)
    if code and with_code:
        raise not_trusted(file, *next(iter(code.items())))
    variants = {name: without_code(study.variants[name]) for name in code}
    return study.model_copy(update={"variants": {**study.variants, **variants}}) if code else study


def left_out_of_plan(what: Iterable[str]) -> Iterator[str]:
    """What a plan of `what` leaves out because nobody agreed to it, a line for each variant."""
    for file in (Path(each) for each in what if each.endswith(".toml")):
        code = {} if is_trusted(file) else code_in(read_study(file).variants)
        for name, does in code.items():
            yield f"variant {name!r} is planned as if it did not do this: {'; '.join(does)} ({file} is not trusted)"


_FOLDERS: Hook[Path] = Hook("STUDY_FILES")


@dataclass(frozen=True)
class ShippedStudy:
    """A study file of the package: its name is the file's, without `.toml`."""

    name: str
    path: Path

    @property
    def study(self) -> Study:
        return read_study(self.path)

    @property
    def title(self) -> str:
        return self.study.title

    @property
    def question(self) -> str:
        return self.study.question


def shipped_studies() -> tuple[ShippedStudy, ...]:
    """All shipped studies, by name."""
    core = Path(str(resources.files("timpani")))
    files = sorted((path for folder in (core, *_FOLDERS.added()) for path in folder.glob("*.toml")), key=_by_name)
    return tuple(ShippedStudy(path.stem, path) for path in files)


def _by_name(path: Path) -> str:
    return path.stem
