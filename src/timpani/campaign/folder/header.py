"""campaign.json: what a campaign measures, where, and by which commands; a continued campaign keeps its own."""

import json
import secrets
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, Field, ValidationError

from timpani.campaign.folder.fields import Recorded
from timpani.campaign.folder.header_parts import (
    HeaderPart,
    MergedCampaign,
    PlannedOperation,
    PlannedPoints,
    RecordedMpi,
    RecordedStudy,
    RecordedVariant,
)
from timpani.campaign.folder.sealed import SealedFile
from timpani.errors import UserError, wrong_value
from timpani.libraries.library import OutsideSetting
from timpani.libraries.registry import library_title
from timpani.machine.describe import MachineDescription, Printable
from timpani.native_sources import ALGORITHMS
from timpani.study.cell import Cell
from timpani.study.keys import KEYS
from timpani.study.point_weights import Point
from timpani.version import __version__

FORMAT = "timpani-campaign"
VERSION = 1

UNFINISHED = "campaign.new"
"""The file's name while it is written."""

_MAY_CHANGE = frozenset(name for name, row in KEYS.items() if row.may_change)


class Header(HeaderPart):
    """A campaign's header, checked; `recorded` is campaign.json as it is, with what its fields here leave out."""

    recorded: dict[str, Any] = Field(repr=False)
    format: Annotated[str, Recorded(f"`{FORMAT}`")] = FORMAT
    version: Annotated[int, Recorded(f"{VERSION}")] = 1
    id: Annotated[
        str,
        Field(min_length=1),
        Recorded("drawn when the campaign began, part of its lines' checksums"),
    ]
    timpani: Annotated[Printable, Recorded("the version that wrote it")] = ""
    created: Annotated[Printable, Recorded("when, UTC")] = ""
    study: Annotated[RecordedStudy, Recorded("every key of the [study](study-files.md), defaults filled in")] = (
        RecordedStudy()
    )
    machine: Annotated[
        MachineDescription,
        Recorded(
            "name, processor, cores, sockets, NUMA nodes, threads per core, kernel, virtualization,"
            " frequency governor; `domains`: the CPUs of each core, last-level cache and socket. With"
            " `--on`: the [machine file](machine-files.md) and the hosts, and the processor only if"
            " the run was started on one of them. For a [lab](how-to/run-in-a-lab.md): the rates of"
            " its links"
        ),
    ] = MachineDescription()
    mpi: Annotated[RecordedMpi, Recorded("kind, version, `mpirun`")] = RecordedMpi()
    left_out: Annotated[
        tuple[Printable, ...], Recorded("named by the study, but missing in this library or machine")
    ] = ()
    commands: Annotated[
        tuple[Printable, ...], Recorded("the command that created the folder, and those that continued it")
    ] = ()
    settings: Annotated[
        dict[str, dict[str, str]] | None,
        Recorded(
            "by collective and algorithm: the setting that selects the algorithm"
            " [outside Timpani](how-to/make-your-library-choose-right.md#one-algorithm-by-hand), asked of the library"
            " when the campaign was planned;"
            " null in imports"
        ),
    ] = None
    outside: Annotated[
        tuple[OutsideSetting, ...] | None,
        Recorded(
            "each setting that affects a started library and that Timpani did not make: `name`, `value`,"
            " `source` (a file and its line, or the environment), whether it `chooses` algorithms, and whether Timpani"
            " `removed` it from its launches. `libraries` names those that find it; empty: all. Also the loaded"
            " modules, as `LOADEDMODULES`; null in imports"
        ),
    ] = None
    variants: Annotated[
        dict[Printable, RecordedVariant] | None,
        Recorded(
            "by name each [variant](study-files.md#variants) where there are several: its `settings` as they are typed,"
            " its `mpi`, and what starts before the first launch showed. `changed` lists control variables whose value"
            " differs from that in the variant `default`. If the variant uses another library, the values are compared"
            " with that library with nothing set; null if it does not start without the variant's script or modules."
            " `components` has the library's component that runs each measured collective, empty if the library shows"
            " none. `unchecked` lists settings whose value in force the library does not show. Null without variants"
        ),
    ] = None
    planned: Annotated[
        dict[Printable, PlannedOperation] | None,
        Recorded(
            "by operation: the planned `algorithms` and `points` (the sizes of each rank count and"
            " placement), without `left_out`; null in imports"
        ),
    ] = None
    rules: Annotated[str | None, Recorded("the text of the study's file of rules, else null")] = None
    tuned: Annotated[
        dict[str, str] | None,
        Recorded("the texts of the library's tuning files by name, if the study names a folder, else null"),
    ] = None
    algorithms: Annotated[
        dict[Printable, str] | None,
        Recorded(
            "the texts of your files in the folder `TIMPANI_ALGORITHMS` by name, if Timpani's algorithms are measured,"
            " else null"
        ),
    ] = None
    results: Annotated[int | None, Recorded("how many results an import has, else null")] = None
    merged: Annotated[
        tuple[MergedCampaign, ...],
        Recorded(
            "of each campaign that `timpani merge` joined: its `id`, its `machine` in the results, the first and the"
            " last number of its `launches` here, and its `header`, which is its campaign.json"
        ),
    ] = ()
    checksum: Annotated[str, Recorded("[of all before it](campaign-folder.md#what-shows-damage)")] = ""

    @classmethod
    def check(cls, values: Mapping[str, Any], source: str) -> Self:
        """The header that campaign.json, read from `source`, holds; UserError names the key at fault."""
        try:
            return cls.model_validate({**values, "recorded": values})
        except ValidationError as error:
            raise wrong_value(
                f"{source} is no file of a campaign", dict(error.errors()[0]), {}, "docs/campaign-folder.md"
            ) from None

    @classmethod
    def new(
        cls,
        *,
        study: Mapping[str, Any],
        machine: MachineDescription,
        mpi: RecordedMpi,
        command: str,
        left_out: list[str],
        rules: str | None = None,
        tuned: Mapping[str, str] | None = None,
        algorithms: Mapping[str, str] | None = None,
        results: int | None = None,
        settings: Mapping[str, Mapping[str, str]] | None = None,
        outside: Sequence[OutsideSetting] | None = None,
        planned: Mapping[str, PlannedOperation] | None = None,
        variants: Mapping[str, RecordedVariant] | None = None,
    ) -> Self:
        """The header of a new campaign. `study` has every key of the study, or the known keys of an imported one."""
        values = {
            **new_identity(),
            "study": study,
            "machine": machine.model_dump(mode="json", exclude_unset=True),
            "mpi": mpi.model_dump(exclude_unset=True),
            "left_out": left_out,
            "commands": [command],
            "rules": rules,
            "tuned": tuned,
            "algorithms": algorithms,
            "results": results,
            "settings": settings,
            "outside": None if outside is None else list(map(asdict, outside)),
            "variants": _dumped(variants),
            "planned": _dumped(planned),
            "merged": [],
        }
        return cls.check(values, "campaign.json")

    def sealed_for(self, name: str) -> str:
        """What the lines of the campaign's file `name` are sealed for."""
        return f"{self.id}/{name}"

    @property
    def machine_names(self) -> list[str]:
        """The machines of merged campaigns; empty for a campaign that was not merged."""
        return list(dict.fromkeys(each.machine for each in self.merged))

    @property
    def imported(self) -> bool:
        """Whether the campaign is an import, which no run continues."""
        return bool(self.study.files)

    def continued_by(self, new: Self) -> dict[str, Any]:
        """campaign.json of the continued campaign, with the new study and the commands of both."""
        commands = [*self.commands, *(command for command in new.commands if command not in self.commands)]
        later = {key: new.recorded[key] for key in ("study", "settings", "planned")}
        return {**self.recorded, **later, "commands": commands}


def new_identity() -> dict[str, Any]:
    """The first keys of a campaign that begins now."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": secrets.token_hex(8),
        "timpani": __version__,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _dumped(parts: Mapping[str, BaseModel] | None) -> dict[str, Any] | None:
    return None if parts is None else {name: each.model_dump(mode="json") for name, each in parts.items()}


_OTHER_FOLDER = "choose another folder, or move this one away"
_FILE = SealedFile("a file of a campaign", "", "restore it, or measure into another folder")


def read_header(folder: Path) -> Header:
    """campaign.json of `folder`; UserError if it is missing or not a campaign's."""
    if not folder.is_dir():
        what = f"{folder} is not a folder" if folder.exists() else f"folder not found: {folder}"
        raise UserError(what, "name the folder that `timpani run -o` wrote")
    path = folder / "campaign.json"

    def header(values: dict[str, Any]) -> Header:
        if values.get("format") != FORMAT:
            raise UserError(f"{path} is no file of a campaign", "name the folder that `timpani run -o` wrote")
        if values.get("version") != VERSION:
            what = f"{path} has version {values.get('version')}, this Timpani reads {VERSION}"
            raise UserError(what, "use the Timpani that wrote it")
        return Header.check(values, str(path))

    try:
        return _FILE.read(path, header)
    except FileNotFoundError:
        raise UserError(
            f"{folder} is not a campaign: it has no campaign.json", "name what `timpani run -o` wrote"
        ) from None


def keep_header(folder: Path, header: Header) -> Header:
    """Write `header` for a campaign that begins, or what it adds to the one that is there; returns what is there now.

    UserError if the existing one is of another study, library or machine.
    """
    path = folder / "campaign.json"
    if path.exists():
        old = read_header(folder)
        _check_same(folder, old, header)
        _FILE.write(path, old.continued_by(header), folder / UNFINISHED)
    else:
        _FILE.write(path, header.recorded, folder / UNFINISHED)
    return read_header(folder)


def _check_same(folder: Path, old: Header, new: Header) -> None:
    if old.merged:
        raise UserError(f"{folder} holds merged campaigns", f"{_OTHER_FOLDER}, and merge the new campaign")
    before, now = old.recorded.get("study", {}), new.recorded["study"]
    for key in now:
        if key not in _MAY_CHANGE and before.get(key) != now[key]:
            raise UserError(
                f"{folder} holds another study: {key} differs: {_short(before.get(key))} there, {_short(now[key])} now",
                f"{_OTHER_FOLDER}, or give the same study",
            )
    for what, was, is_ in (
        (f"rules in {now.get('rules')}", old.rules, new.rules),
        (f"files in {now.get('tuned')}", old.tuned, new.tuned),
        (f"files in the folder {ALGORITHMS}", old.algorithms, new.algorithms),
    ):
        if was != is_:
            raise UserError(f"{folder} was measured with other {what}", _OTHER_FOLDER)
    if old.outside is not None and _deciding(old) != _deciding(new):
        raise UserError(
            f"{folder} was measured with another default: {_deciding(old) or 'no setting outside Timpani'} chose "
            f"algorithms then, and {_deciding(new) or 'no setting outside Timpani'} does now",
            f"undo the change, or {_OTHER_FOLDER}",
        )
    for what, was, is_ in (
        ("MPI library", *(library_title(each.mpi.kind, "") for each in (old, new))),
        ("library version", old.mpi.version, new.mpi.version),
        ("machine", old.machine.name, new.machine.name),
    ):
        if was != is_:
            raise UserError(f"{folder} was measured with {what} {was}, and this is {is_}", _OTHER_FOLDER)


def _deciding(header: Header) -> str:
    """The settings outside Timpani that decide the default."""
    return ", ".join(f"{each.name}={each.value}" for each in header.outside or () if each.decides_default)


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


def planned_operations(cells: Iterable[Cell]) -> dict[str, PlannedOperation]:
    """By operation, what all `cells` of a plan are of."""
    algorithms: defaultdict[str, dict[str, None]] = defaultdict(dict)
    sizes: defaultdict[str, defaultdict[tuple[int, str], set[int]]] = defaultdict(lambda: defaultdict(set))
    for cell in cells:
        algorithms[cell.collective][cell.algorithm.label] = None
        sizes[cell.collective][cell.ranks, cell.placement].add(cell.message_bytes)
    return {
        name: PlannedOperation(
            algorithms=tuple(labels),
            points=tuple(
                PlannedPoints(ranks=ranks, placement=placement, sizes=tuple(sorted(found)))
                for (ranks, placement), found in sizes[name].items()
            ),
        )
        for name, labels in algorithms.items()
    }


def planned_points(header: Header, machine: str) -> frozenset[Point]:
    """The points that the campaign of `header` was to measure on `machine`; none where that wasn't recorded."""
    return frozenset(
        Point(name, each.ranks, each.placement, size, header.study.mode, machine, header.study.arrival)
        for name, operation in (header.planned or {}).items()
        for each in operation.points
        for size in each.sizes
    )


_OPTIONS = {"--launches": 1, "--budget": 1, "--output": 1, "-o": 1, "--dry-run": 0}
"""Options of `timpani run` that are given anew, or left out; each with how many values it takes."""

_SLACK = 1.25  # of a budget: launches take longer on a busier machine
_MINUTE = 60


def further_command(header: Header, folder: Path, launches: int, seconds: float | None) -> str | None:
    """The campaign's last `timpani run` command with `--launches`, into `folder`; None where no such command made it.

    seconds  what these launches probably take; a campaign with a budget gets one that lasts that long
    """
    words = shlex.split(header.commands[-1]) if header.commands else []
    if words[:2] != ["timpani", "run"]:
        return None
    given = ["-o", str(folder), "--launches", str(launches)]
    if header.study.budget is not None and seconds is not None:
        given += ["--budget", f"{ceil(_SLACK * seconds / _MINUTE)}m"]
    return shlex.join([*_without_options(words), *given])


def _without_options(words: list[str]) -> list[str]:
    kept: list[str] = []
    rest = iter(words)
    for word in rest:
        name, has_value, _ = word.partition("=")
        if name not in _OPTIONS:
            kept.append(word)
        elif not has_value and _OPTIONS[name]:
            next(rest, None)
    return kept
