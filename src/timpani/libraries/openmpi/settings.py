"""Open MPI's parameters with their values, where each was set, and its components, as `ompi_info` prints them."""

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from timpani.libraries.outside_setting import OutsideSetting, file_line, settings_lines, variables
from timpani.libraries.taken_settings import InstalledSettings
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


_COMPONENT = re.compile(r"mca:(?P<framework>\w+):(?P<component>\w+):version:.*")
_PREFIX = "OMPI_MCA_"
_PREFERENCE = re.compile(r"coll_(?P<component>\w+)_(priority|enable)")

# `self` carries messages of a process to itself.
_EAGER_LIMIT = re.compile(
    r"mca:btl:(?!self)\w+:param:(?P<name>btl_\w+_(?:eager_limit|max_send_size|memcpy_limit)):value:(?P<value>\d+)"
)


def installed_settings(mpi: Mpi, environment: Mapping[str, str]) -> InstalledSettings:
    """What ompi_info finds in `environment`; nothing without ompi_info."""
    listed = ask_ompi_info(mpi, "--all", environment=environment)
    return InstalledSettings(
        {name: each.source for name, each in read_settings(listed).items()}, listed_components(listed)
    )


@cache
def components_of(mpi: Mpi) -> Mapping[str, frozenset[str]]:
    """By framework, such as `coll`, the components that are installed; none without ompi_info."""
    return listed_components(ask_ompi_info(mpi))


def ahead_of_tuned(mpi: Mpi) -> tuple[str, ...]:
    """Installed components of NVIDIA's, as in HPC-X, that take collectives from `tuned`: hcoll has the priority 90."""
    return tuple(name for name in ("hcoll", "ucc") if name in components_of(mpi).get("coll", ()))


def listed_components(parsable: str) -> dict[str, frozenset[str]]:
    """By framework, such as `coll`, the components in what `ompi_info --parsable` prints."""
    components: defaultdict[str, set[str]] = defaultdict(set)
    for match in filter(None, map(_COMPONENT.fullmatch, parsable.splitlines())):
        components[match["framework"]].add(match["component"])
    return {name: frozenset(each) for name, each in components.items()}


def eager_limits(mpi: Mpi) -> dict[str, int]:
    """The sizes at which each transport changes its protocol: which one carried a message is unknown."""
    return read_eager_limits(ask_ompi_info(mpi, "--param", "btl", "all"))


def read_eager_limits(parsable: str) -> dict[str, int]:
    """The limits in what `ompi_info --parsable` prints."""
    found = filter(None, map(_EAGER_LIMIT.fullmatch, parsable.splitlines()))
    return {match["name"]: int(match["value"]) for match in found}


def control(name: str) -> str | None:
    """The parameter that a variable sets, or a parameter itself; None of what the library doesn't read."""
    if name.startswith(_PREFIX):
        return name.removeprefix(_PREFIX)
    return name if name[:1].islower() else None


def preferred_component(name: str, default: str, value: str) -> str | None:
    """The component of collectives that a higher priority prefers, or that is switched on."""
    match = _PREFERENCE.fullmatch(name)
    try:
        return match["component"] if match and int(value) > int(default) else None
    except ValueError:
        return None
