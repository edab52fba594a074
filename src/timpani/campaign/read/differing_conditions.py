"""In what two campaigns differ, and their results with states of the machine that mean the same in both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import polars as pl

from timpani.campaign.folder.load import Campaign
from timpani.campaign.folder.machine_states import with_states
from timpani.libraries.library import OutsideSetting
from timpani.libraries.outside_settings import MODULES
from timpani.machine.nodes.model import fold
from timpani.study.schema import STATE
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


_SIDE = "side"


def matched_states(before: Campaign, after: Campaign) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The results of both with STATE found in the probes of both together: each alone may have met one state only.

    STATE is null where the probes can't be matched: on two machines, or between nodes, where a probe is a message of
    the library, with two libraries.
    """
    sides = [before.results, after.results]
    if not _same_probe(before, after):
        first, second = (results.with_columns(pl.lit(None, pl.String).alias(STATE)) for results in sides)
        return first, second
    together = pl.concat(
        [
            # A launch's number, and what was interleaved in it, identify it within its campaign only.
            results.with_columns(
                pl.lit(side).alias(_SIDE), (pl.lit(f"{side} ") + pl.col("interleaving")).alias("interleaving")
            )
            for side, results in zip("AB", sides, strict=True)
        ],
        how="diagonal_relaxed",
    )
    states = with_states(together.drop(STATE, strict=False))[STATE]
    first, second = (
        results.with_columns(states.filter(together[_SIDE] == side)) for side, results in zip("AB", sides, strict=True)
    )
    return first, second


def _same_probe(before: Campaign, after: Campaign) -> bool:
    one, other = before.header, after.header
    if one.machine.name != other.machine.name:
        return False
    several_nodes = max(len(one.machine.hosts), len(other.machine.hosts)) > 1
    return not several_nodes or (one.mpi.kind, one.mpi.version) == (other.mpi.kind, other.mpi.version)
