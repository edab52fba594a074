"""The labs of this machine, and how to run a command on one of their nodes.

A lab's folder is made first, and `lab.json` in it last: a folder without that file was left by a killed `up` or `down`.
All names contain the lab's id, so leftovers are found by it.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from timpani.errors import UserError, unknown
from timpani.lab.enter import ENTER
from timpani.lab.layout import Layout, namespace_prefix

LABS = Path("/run/timpani/lab")
"""Removed by a restart of the machine, like namespaces."""

LAYOUT = "lab.json"

_NAMESPACES = Path("/run/netns")  # the folder of ip-netns(8)


@dataclass(frozen=True)
class Lab:
    """A lab. `layout` is None if it is half made or half removed, or made by another version."""

    id: str
    layout: Layout | None

    @property
    def folder(self) -> Path:
        """Folder of its files: the layout, the scripts, Slurm's configuration and logs."""
        return LABS / self.id

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Its existing namespaces."""
        return tuple(sorted(path.name for path in _NAMESPACES.glob(f"{namespace_prefix(self.id)}*")))

    @property
    def leftover(self) -> bool:
        """Whether it was left by a killed command."""
        return not (self.folder / LAYOUT).exists()

    @property
    def whole(self) -> bool:
        """Whether it is complete."""
        return self.layout is not None and set(self.layout.namespaces) <= set(self.namespaces)

    def enter(self, node: str, command: tuple[str, ...]) -> tuple[str, ...]:
        """The command that runs `command` on a node."""
        return (str(self.folder / ENTER), node, *command)


def labs() -> tuple[Lab, ...]:
    """All labs of this machine, sorted by id: those with a folder, and those with a namespace."""
    ids = {path.name for path in LABS.glob("*")} | {path.name.split("-")[1] for path in _NAMESPACES.glob("timpani-*-*")}
    return tuple(Lab(each, _read(LABS / each / LAYOUT)) for each in sorted(ids))


def choose_lab(name: str | None) -> Lab:
    """The lab with that id; without one, the only lab."""
    there = {lab.id: lab for lab in labs()}
    if name is not None and name not in there:
        raise unknown("lab", name, there, "timpani lab status")
    if not there:
        raise UserError("this machine has no lab", "make one: `timpani lab up`")
    if name is None and len(there) > 1:
        raise UserError(f"there are {len(there)} labs: {', '.join(there)}", "name one of them")
    return there[name or next(iter(there))]


def choose_whole_lab(name: str | None) -> tuple[Lab, Layout]:
    """A complete lab, with its layout."""
    lab = choose_lab(name)
    if lab.layout is None or not lab.whole:
        raise UserError(f"lab {lab.id} is incomplete", f"take it down and make another: `timpani lab down {lab.id}`")
    return lab, lab.layout


def _read(path: Path) -> Layout | None:
    try:
        return Layout.model_validate(json.loads(path.read_text()))
    except (FileNotFoundError, json.JSONDecodeError, ValidationError):
        return None
