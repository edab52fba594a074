"""In what two campaigns differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from timpani.campaign.folder.load import Campaign
from timpani.libraries.outside_setting import OutsideSetting
from timpani.libraries.outside_settings import MODULES
from timpani.machine.nodes.node_set import fold
from timpani.study.sizes import show_sizes

_NO_CONDITION = frozenset(
    {
        *("title", "question", "collectives", "ranks", "sizes", "placement", "mode", "arrival", "launches", "budget"),
        *("seed", "files"),
    }
)
"""Keys of a study that the results contain, or that change no time."""


@dataclass(frozen=True)
class Difference:
    """A condition that differs, in words."""

    what: str
    before: str
    after: str


def differences(before: Campaign, after: Campaign) -> list[Difference]:
    """Of library, Timpani, machine, protocol and what was measured; what one of the two lacks is left out."""
    first, second = (dict(_conditions(campaign)) for campaign in (before, after))
    return [
        Difference(name, first[name], second[name]) for name in first if first[name] != second.get(name, first[name])
    ]


def _conditions(campaign: Campaign) -> Iterator[tuple[str, str]]:
    header = campaign.header
    if header.mpi.version:
        yield "MPI library", header.mpi.title
    if header.timpani:
        yield "Timpani", header.timpani
    machine = {key: value for key, value in header.recorded.get("machine", {}).items() if value not in (None, "")}
    yield from (("machine" if key == "name" else key, value) for key, value in _scalars(machine))
    if header.machine.hosts:
        yield "nodes", fold(host.name for host in header.machine.hosts)
    yield from _measured(campaign)
    study = header.recorded.get("study", {})
    yield from ((key.replace("_", " "), value) for key, value in _scalars(study) if key not in _NO_CONDITION)
    yield from _outside_conditions(header.outside)
    if header.rules:
        yield "checksum of the rules", sha256(header.rules.encode()).hexdigest()[:12]
    for what, files in (("tuning files", header.tuned), ("user's algorithms", header.algorithms)):
        if files:
            texts = "\0".join(f"{name}\0{text}" for name, text in sorted(files.items()))
            yield f"checksum of the {what}", sha256(texts.encode()).hexdigest()[:12]
    if overrides := study.get("overrides"):
        yield from ((f"datatype of {name}", header.study.datatype_of(name)) for name in overrides)
        for name, own in header.study.overrides.items():
            given = own.model_dump(include={"operator", "root", "in_place"}, exclude_none=True)
            yield from ((f"{key.replace('_', ' ')} of {name}", str(value)) for key, value in given.items())


def _outside_conditions(settings: Sequence[OutsideSetting] | None) -> Iterator[tuple[str, str]]:
    """What decides the default, the other settings in force, and the modules; of removed settings no time depends."""
    if settings is None:
        return
    kept = [each for each in settings if not each.removed]
    for what, belongs in (
        ("settings that decide the default", [each for each in kept if each.chooses]),
        ("other settings outside Timpani", [each for each in kept if not each.chooses and each.name != MODULES]),
        ("loaded modules", [each for each in kept if each.name == MODULES]),
    ):
        yield what, ", ".join(f"{each.name}={each.value}" for each in belongs) or "none"


def _measured(campaign: Campaign) -> Iterator[tuple[str, str]]:
    results = campaign.results
    for column, what in (
        ("ranks", "ranks"),
        ("placement", "placement"),
        ("mode", "cache mode"),
        ("arrival", "arrival pattern"),
    ):
        yield what, ", ".join(map(str, results[column].unique().sort()))
    yield "sizes", show_sizes(results["message_bytes"].unique().to_list())
    yield "launches", str(results["launch"].n_unique())


def _scalars(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Single values; None is nothing asked for."""
    for key, value in values.items():
        if value is None or isinstance(value, bool | str | int | float):
            yield key, "none" if value in (None, "") else str(value)
