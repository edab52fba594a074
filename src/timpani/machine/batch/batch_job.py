"""What is asked of a batch system, in one text: `slurm:THIN,nodes=2,time=2:00:00`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from timpani.errors import UserError, unknown

_DESCRIBED = "docs/machine-files.md has examples"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*", re.ASCII)
_COUNT = re.compile(r"[1-9]\d{0,5}", re.ASCII)
_TIME = re.compile(r"(?:(?P<days>\d{1,3})-)?(?P<fields>\d{1,5}(?::\d{2}){0,2})", re.ASCII)
_MODULES = re.compile(r"[\w.+/-]+", re.ASCII)
_CONSTRAINT = re.compile(r"[\w.+&|*()\[\]:=-]+", re.ASCII)
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


@dataclass(frozen=True)
class BatchJob:
    """What is asked of a batch system. Whole nodes are always asked for: neighbors are in every figure.

    system      the word for the batch system
    queue       its queue or partition; None: the default one
    tasks       ranks a node takes; None: as many as it has CPUs
    seconds     the time limit
    jobs        how many jobs measure everything, one after another
    modules     loaded before it starts
    account     that is charged; None: the user's own
    constraint  what nodes must have, in the batch system's syntax
    excluded    nodes that it must not get, as a node set
    """

    system: str
    queue: str | None = None
    nodes: int = 2
    tasks: int | None = None
    seconds: int = _HOUR
    jobs: int = 1
    modules: tuple[str, ...] = ()
    account: str | None = None
    qos: str | None = None
    constraint: str | None = None
    excluded: str | None = None

    @classmethod
    def parse(cls, text: str) -> "BatchJob":
        """Read `SYSTEM[:QUEUE][,KEY=VALUE]…`; UserError for unknown keys and for values that no key takes."""
        place, *settings = text.split(",")
        system, colon, queue = place.partition(":")
        if colon and not _NAME.fullmatch(queue):
            raise UserError(
                f"{queue!r} is not a partition or a queue", f"write {system}:NAME, as the batch system lists it"
            )
        job = cls(system, queue or None)
        for setting in settings:
            key, _, value = setting.partition("=")
            if key not in _SETTINGS:
                raise unknown("setting of a job", key, _SETTINGS, "timpani script --help")
            pattern, field, read = _SETTINGS[key]
            if not pattern.fullmatch(value):
                raise UserError(f"{value!r} can't be a job's {key}", _DESCRIBED)
            job = replace(job, **{field: read(value)})
        return job


def _seconds(text: str) -> int:
    """Seconds of a limit as Slurm writes it: minutes, minutes:seconds, hours:minutes:seconds, days-hours[:…]."""
    match = _TIME.fullmatch(text)
    assert match, "the setting's pattern is checked before"
    fields = [int(each) for each in match["fields"].split(":")]
    if match["days"] is not None:
        units: tuple[int, ...] = (_HOUR, _MINUTE, 1)
    else:
        units = (_HOUR, _MINUTE, 1) if len(fields) == 3 else (_MINUTE, 1)
    seconds = int(match["days"] or 0) * _DAY + sum(
        count * unit for count, unit in zip(fields, units[: len(fields)], strict=True)
    )
    if seconds == 0:
        raise UserError(f"{text!r} can't be a job's time", _DESCRIBED)
    return seconds


_SETTINGS: dict[str, tuple[re.Pattern[str], str, Callable[[str], Any]]] = {
    "nodes": (_COUNT, "nodes", int),
    "tasks": (_COUNT, "tasks", int),
    "jobs": (_COUNT, "jobs", int),
    "time": (_TIME, "seconds", _seconds),
    "modules": (_MODULES, "modules", lambda text: tuple(text.split("+"))),
    "account": (_NAME, "account", str),
    "qos": (_NAME, "qos", str),
    "constraint": (_CONSTRAINT, "constraint", str),
}


def loaded_modules(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The modules of this shell, as both implementations of `module` list them."""
    return tuple(name for name in environment.get("LOADEDMODULES", "").split(":") if name)
