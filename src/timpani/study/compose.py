"""A study from what was typed: a study's name or file, or operations, with options that take precedence."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from timpani.errors import UserError, unknown
from timpani.study.operations import OPERATIONS
from timpani.study.shipped import shipped_studies
from timpani.study.study import ALL, Study, read_study

DEFAULT_RANKS = "2"
DEFAULT_SIZES = "1:1Mi"


def compose(what: list[str], options: Mapping[str, Any]) -> Study:
    """The study that `what` names, with every option that isn't None in place of the study's own field.

    `what` is a shipped study's name, a study file, or one or more operations. `algorithms` holds for all of them,
    commas between them except inside parameters: `default,chain:fanout=4,segment_bytes=8192,ring`.
    """
    given = {name: value for name, value in options.items() if value is not None}
    algorithms = split_algorithms(given.pop("algorithms")) if "algorithms" in given else None
    base = _named(what)
    if base is None:
        strange = [name for name in what if name not in OPERATIONS]
        if strange:
            names = [*OPERATIONS, *(shipped.name for shipped in shipped_studies())]
            raise unknown("study or operation", strange[0], names, "timpani list studies")
        values: dict[str, Any] = {
            "collectives": dict.fromkeys(what, algorithms or (ALL,)),
            "ranks": DEFAULT_RANKS,
            "sizes": DEFAULT_SIZES,
        }
    else:
        values = base.model_dump()
        if algorithms:
            values["collectives"] = dict.fromkeys(values["collectives"], algorithms)
        for override in values["overrides"].values():
            override.update(dict.fromkeys(override.keys() & given.keys()))
    return Study.check({**values, **given}, "the command line" if given else "the study")


def split_algorithms(text: str) -> tuple[str, ...]:
    """Split at commas, except before `name=value`, which goes on with the parameters of the algorithm before it."""
    parts: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        is_parameter = "=" in part and ":" not in part
        if is_parameter and parts:
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    if not parts:
        raise UserError("no algorithm is named", f"write '{ALL}', or a list such as default,ring")
    return tuple(parts)


def _named(what: list[str]) -> Study | None:
    """The study when `what` is one study; None when it must be operations."""
    if len(what) != 1:
        return None
    for shipped in shipped_studies():
        if shipped.name == what[0]:
            return shipped.study
    return read_study(Path(what[0])) if what[0].endswith(".toml") else None
