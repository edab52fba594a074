"""Open MPI's parameters with their values and where each was set, as `ompi_info --parsable` prints them."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from timpani.libraries.outside_setting import OutsideSetting, file_line, settings_lines, variables
from timpani.native.mpi import Mpi

OVERRIDES = re.compile(r"OMPI_MCA_coll(_\w+)?(?<!_verbose)")
"""Variables that choose components of collectives, or change what these do."""

_LINE = re.compile(r"mca:\w+:\w+:param:(?P<name>\w+):(?P<field>value|source):(?P<value>.*)")
_FILE = re.compile(r"file \((?P<path>.+?)(?::(?P<line>\d+))?\)")
_CHOOSING_VARIABLE = re.compile(r"(HCOLL|UCC)_\w*(TUNE|ALG|BCOL|CLS|TLS)\w*")
"""Variables of components that bring algorithms of other libraries."""

_VARIABLE = re.compile(r"(OMPI|PRTE|PMIX)_MCA_\w+|(HCOLL|UCC|SHARP|UCX|FI)_\w+|LD_PRELOAD")

_FILES, _NO_FILES = "mca_base_param_files", "none"

_PMIX_FILES = f"PMIX_MCA_{_FILES}"
"""The variable that names PMIx's parameter files."""
_PMIX_FILE, _PRTE_FILE = ".pmix/mca-params.conf", ".prte/mca-params.conf"
"""Parameter files in the home folder: of PMIx, and of the launcher from Open MPI 5.0 on."""


@dataclass(frozen=True)
class Setting:
    """A parameter's value and where it was set, in the library's words; `default`: nowhere."""

    value: str
    source: str

    @property
    def is_set(self) -> bool:
        return not self.source.startswith("default")


def read_settings(parsable: str) -> dict[str, Setting]:
    """Each parameter's setting, from what `ompi_info --parsable` prints."""
    found: dict[str, dict[str, str]] = {}
    for match in filter(None, map(_LINE.fullmatch, parsable.splitlines())):
        found.setdefault(match["name"], {})[match["field"]] = match["value"]
    return {name: Setting(each.get("value", ""), each.get("source", "default")) for name, each in found.items()}


def ask_ompi_info(mpi: Mpi, *which: str, environment: Mapping[str, str] | None = None) -> str:
    """What `ompi_info --parsable` prints in `environment`, by default this process's; nothing without ompi_info."""
    if mpi.info is None:
        return ""
    ask = [str(mpi.info), *which, "--level", "9", "--parsable"]
    return subprocess.run(ask, capture_output=True, text=True, check=False, errors="replace", env=environment).stdout


def settings_in_force(mpi: Mpi, environment: Mapping[str, str]) -> Iterator[OutsideSetting]:
    """What the library's files set, wherever it looks for them, and what `environment` does."""
    for name, setting in read_settings(ask_ompi_info(mpi, "--all", environment=environment)).items():
        if place := _FILE.fullmatch(setting.source):
            source = file_line(Path(place["path"]), place["line"])
            chooses = bool(OVERRIDES.fullmatch(f"OMPI_MCA_{name}"))
            yield OutsideSetting(name, setting.value, source, chooses)
    home = Path(environment.get("HOME", "/"))
    if _PMIX_FILES not in environment:
        yield from _settings_of_file(home / _PMIX_FILE)
    if not mpi.version.startswith("4."):
        yield from _settings_of_file(home / _PRTE_FILE)
    yield from variables(environment, _VARIABLE, _CHOOSING_VARIABLE)


def _settings_of_file(path: Path) -> Iterator[OutsideSetting]:
    """The parameters in a file of PMIx or the launcher, which `ompi_info` does not list; nothing without the file."""
    for number, line in settings_lines(path):
        name, is_set, value = line.partition("#")[0].partition("=")
        if is_set:
            yield OutsideSetting(name.strip(), value.strip(), file_line(path, number), chooses=False)


def without_own_files(mpi: Mpi, environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that name the parameter files outside the user's home; empty if no file is in the home.

    The launcher of Open MPI 5.0 has no such variable (5.0.11, observed).
    """
    setting = read_settings(ask_ompi_info(mpi, "--all", environment=environment)).get(_FILES)
    home = environment.get("HOME", "")
    files = re.split("[,:]", setting.value) if setting else []
    kept = [each for each in files if not (home and Path(each).is_relative_to(home))]
    named = {f"OMPI_MCA_{_FILES}": ",".join(kept) or _NO_FILES} if kept != files else {}
    if home and (Path(home) / _PMIX_FILE).is_file():
        of_site = mpi.mpirun.resolve().parent.parent / "etc" / "pmix-mca-params.conf"
        named[_PMIX_FILES] = str(of_site) if of_site.is_file() else _NO_FILES
    return named
