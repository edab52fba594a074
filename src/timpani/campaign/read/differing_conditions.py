"""In what two campaigns differ."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from timpani.campaign.folder.load import Campaign
from timpani.machine.nodes.node_set import fold
from timpani.study.sizes import show_sizes

_NO_CONDITION = frozenset(
    {
        *("title", "question", "collectives", "ranks", "sizes", "placement", "mode", "launches", "starts", "budget"),
        *("seed", "files"),
    }
)
"""Keys of a study that the results themselves tell, or that change no time."""


@dataclass(frozen=True)
class Difference:
    """A condition that differs, in words."""

    what: str
    before: str
    after: str


def differences(before: Campaign, after: Campaign) -> list[Difference]:
    """Of library, Timpani, machine, protocol and what was measured; what one of the two doesn't tell is left out."""
    told = [dict(_conditions(campaign)) for campaign in (before, after)]
    both = [name for name in told[0] if name in told[1]]
    return [Difference(name, told[0][name], told[1][name]) for name in both if told[0][name] != told[1][name]]


def _conditions(campaign: Campaign) -> Iterator[tuple[str, str]]:
    header = campaign.header
    if header.mpi.version:
        yield "MPI library", f"{header.mpi.kind} {header.mpi.version}"
    if header.timpani:
        yield "Timpani", header.timpani
    machine = {key: value for key, value in header.recorded.get("machine", {}).items() if value not in (None, "")}
    yield from (("machine" if key == "name" else key, value) for key, value in _scalars(machine))
    if header.machine.hosts:
        yield "nodes", fold(host.name for host in header.machine.hosts)
    yield from _measured(campaign)
    study = header.recorded.get("study", {})
    yield from ((key.replace("_", " "), value) for key, value in _scalars(study) if key not in _NO_CONDITION)
    if header.rules:
        yield "checksum of the rules", sha256(header.rules.encode()).hexdigest()[:12]
    if header.tuned:
        texts = "\0".join(f"{name}\0{text}" for name, text in sorted(header.tuned.items()))
        yield "checksum of the tuning files", sha256(texts.encode()).hexdigest()[:12]
    if overrides := study.get("overrides"):
        yield from ((f"datatype of {name}", header.study.datatype_of(name)) for name in overrides)


def _measured(campaign: Campaign) -> Iterator[tuple[str, str]]:
    results = campaign.results
    for column, what in (("ranks", "ranks"), ("placement", "placement"), ("mode", "cache mode")):
        yield what, ", ".join(map(str, results[column].unique().sort()))
    yield "sizes", show_sizes(results["message_bytes"].unique().to_list())
    yield "launches", str(results["launch"].n_unique())
    if results["world"].null_count() < results.height:
        yield "starts", "shared" if (results["world"] > results["ranks"]).any() else "separate"


def _scalars(values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Single values; None is nothing asked for."""
    for key, value in values.items():
        if value is None or isinstance(value, bool | str | int | float):
            yield key, "none" if value in (None, "") else str(value)
