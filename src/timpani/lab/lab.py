"""Labs of this machine: which there are, and how to do something on a node of one.

A lab's folder is there before anything else of it, and `lab.json` in it when all is made: a folder without one is what
a killed `up` or `down` left. All that was made carries the lab's id, by which it is found.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from timpani.errors import UserError, unknown
from timpani.lab.enter import ENTER
from timpani.lab.layout import Layout, namespace_prefix

LABS = Path("/run/timpani/lab")
"""Emptied by a restart of the machine, as namespaces are."""

LAYOUT = "lab.json"

_NAMESPACES = Path("/run/netns")  # where ip-netns(8) keeps them


@dataclass(frozen=True)
class Lab:
    """`layout` is None for a lab that was left half made or half taken down, or that another version made."""

    id: str
    layout: Layout | None

    @property
    def folder(self) -> Path:
        """Where its files are: the layout, the scripts, Slurm's configuration and logs."""
        return LABS / self.id

    @property
    def namespaces(self) -> tuple[str, ...]:
        """Those of its namespaces that exist."""
        return tuple(sorted(path.name for path in _NAMESPACES.glob(f"{namespace_prefix(self.id)}*")))

    @property
    def left(self) -> bool:
        """Whether it is what a killed command left."""
        return not (self.folder / LAYOUT).exists()

    @property
    def whole(self) -> bool:
        """Whether everything of it is there."""
        return self.layout is not None and set(self.layout.namespaces) <= set(self.namespaces)

    def enter(self, node: str, command: tuple[str, ...]) -> tuple[str, ...]:
        """The command that runs `command` on a node."""
        return (str(self.folder / ENTER), node, *command)


def labs() -> tuple[Lab, ...]:
    """All of this machine, by their id: those with a folder, and those with a namespace."""
    ids = {path.name for path in LABS.glob("*")} | {path.name.split("-")[1] for path in _NAMESPACES.glob("timpani-*-*")}
    return tuple(Lab(each, _read(LABS / each / LAYOUT)) for each in sorted(ids))


def choose_lab(name: str | None) -> Lab:
    """The lab of that id; without one, the only lab that there is."""
    there = {lab.id: lab for lab in labs()}
    if name is not None and name not in there:
        raise unknown("lab", name, there, "timpani lab status")
    if not there:
        raise UserError("there is no lab on this machine", "make one: `timpani lab up`")
    if name is None and len(there) > 1:
        raise UserError(f"there are {len(there)} labs: {', '.join(there)}", "say which")
    return there[name or next(iter(there))]


def choose_whole_lab(name: str | None) -> tuple[Lab, Layout]:
    """A lab that can be used, with its layout."""
    lab = choose_lab(name)
    if lab.layout is None or not lab.whole:
        raise UserError(f"lab {lab.id} is not whole", f"take it down and make another: `timpani lab down {lab.id}`")
    return lab, lab.layout


def _read(path: Path) -> Layout | None:
    try:
        return Layout.model_validate(json.loads(path.read_text()))
    except (FileNotFoundError, json.JSONDecodeError, ValidationError):
        return None
