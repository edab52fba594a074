"""What is set in the environment or in a parameter file of Open MPI that keeps a rules file from deciding."""

from collections.abc import Collection, Iterator
from pathlib import Path

from timpani.libraries.openmpi.settings import Setting, ask_ompi_info, read_settings
from timpani.libraries.openmpi.tuned_rules.collectives import han_collectives
from timpani.libraries.tuning_file import Fault
from timpani.native.mpi import Mpi

_SWITCH, _FILE = "coll_tuned_use_dynamic_rules", "coll_tuned_dynamic_rules_filename"


def faults_of_settings(collectives: Collection[str], mpi: Mpi) -> Iterator[Fault]:
    """For a file that chooses in these collectives, on this computer."""
    yield from faults(collectives, read_settings(ask_ompi_info(mpi, "--param", "coll", "all")), mpi)


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
    taken = [name for name in han_collectives(mpi.numbers) if name in collectives]
    han_file_switch = settings.get("coll_han_use_dynamic_file_rules")
    if mpi.numbers >= (5,) and taken and not without_han and not (han_file_switch and han_file_switch.is_set):
        what = f"on several nodes coll/han does {', '.join(taken)}"
        fix = "for others measure there: `timpani tune` then writes a file for HAN, too; or set coll to ^han"
        yield Fault("note", None, what, "these rules hold on one node only", fix)
