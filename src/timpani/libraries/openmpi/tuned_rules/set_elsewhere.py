"""What is set in the environment or in a parameter file of Open MPI that keeps a rules file from deciding."""

import re
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from timpani.libraries.openmpi.tuned_rules.collectives import HAN
from timpani.libraries.tuning_file import Fault
from timpani.native.mpi import Mpi

_ASK = ("--param", "coll", "all", "--level", "9", "--parsable")
_LINE = re.compile(r"mca:coll:\w+:param:(?P<name>coll\w*):(?P<field>value|source):(?P<value>.*)")
_SWITCH, _FILE = "coll_tuned_use_dynamic_rules", "coll_tuned_dynamic_rules_filename"


@dataclass(frozen=True)
class Setting:
    """A parameter's value and where it was set, in the library's words; `default`: nowhere."""

    value: str
    source: str

    @property
    def is_set(self) -> bool:
        return not self.source.startswith("default")


def faults_of_settings(collectives: Collection[str], mpi: Mpi) -> Iterator[Fault]:
    """For a file that chooses in these collectives, on this computer."""
    settings = read_settings(_answer(mpi))
    yield from faults(collectives, settings, mpi)


def faults(collectives: Collection[str], settings: dict[str, Setting], mpi: Mpi) -> Iterator[Fault]:
    """The same, by what is set."""
    for name in sorted(collectives):
        forced = settings.get(f"coll_tuned_{name}_algorithm")
        if forced and forced.is_set and forced.value not in ("0", "ignore"):
            what = f"coll_tuned_{name}_algorithm is {forced.value} ({forced.source})"
            wins = "it goes before the file" if mpi.numbers >= (5,) else "it decides wherever the file says 0"
            yield Fault("warning", None, what, wins, f"remove the setting: {name} has rules")
    switch, file = settings.get(_SWITCH), settings.get(_FILE)
    if file and file.is_set and not (switch and switch.value in ("1", "true")):
        what = f"{_FILE} is set ({file.source}) and {_SWITCH} is not"
        yield Fault("error", None, what, "no rules file is read", f"set {_SWITCH} to 1, too")
    if file and file.is_set and not Path(file.value).is_file():
        what = f"{_FILE} is {file.value}, which is no file"
        yield Fault("error", None, what, "no rules file is read, and nothing says so", "write the whole path")
    components = settings.get("coll")
    words = components.value.removeprefix("^").split(",") if components and components.is_set else []
    if components and words and ("tuned" in words) == components.value.startswith("^"):
        what = f"coll is {components.value} ({components.source}), without tuned"
        yield Fault("error", None, what, "coll/tuned, which reads the file, is not used", "let tuned in")
    without_han = words and ("han" in words) == components.value.startswith("^") if components else False
    taken = [name for name in HAN if name in collectives]
    handed = settings.get("coll_han_use_dynamic_file_rules")
    if mpi.numbers >= (5,) and taken and not without_han and not (handed and handed.is_set):
        what = f"on several nodes coll/han does {', '.join(taken)}"
        fix = "for others measure there: `timpani tune` then writes a file for HAN, too; or set coll to ^han"
        yield Fault("note", None, what, "these rules hold on one node only", fix)


def read_settings(parsable: str) -> dict[str, Setting]:
    """Each parameter's setting, from what `ompi_info --parsable` prints."""
    found: dict[str, dict[str, str]] = {}
    for match in filter(None, map(_LINE.fullmatch, parsable.splitlines())):
        found.setdefault(match["name"], {})[match["field"]] = match["value"]
    return {name: Setting(each.get("value", ""), each.get("source", "default")) for name, each in found.items()}


def _answer(mpi: Mpi) -> str:
    """What ompi_info says in the user's own environment; nothing where there is none."""
    if mpi.info is None:
        return ""
    return subprocess.run([mpi.info, *_ASK], capture_output=True, text=True, check=False, errors="replace").stdout
