"""Open MPI's parameters and components, as `ompi_info` prints them; components and transports compete as variants.

What they are follows Open MPI's documentation: "Available Collective Components" (priorities decide, and each can be
set) and "Shared Memory" (vader was renamed sm in 5.0; single copies by CMA, XPMEM and KNEM), docs.open-mpi.org,
tuning-apps, 5.0 and 6.0.
"""

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from timpani.libraries.library import OfferedVariants, OutsideSetting, file_line, settings_lines, variables
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


_ENUMERATOR = re.compile(r"mca:\w+:\w+:param:(?P<name>\w+):enumerator:value:-?\d+:(?P<value>\w+)")
_PREFERRED = 100
"""A priority above those of all components (0 to 90 in 4.1 and 5.0)."""

_NOT_COMPETING = {
    "self": "for communicators of one rank",
    "inter": "for intercommunicators",
    "libnbc": "non-blocking collectives only",
    "monitoring": "counts messages",
    "sync": "adds barriers",
    "demo": "an example",
    "ftagree": "agreement after failures",
    "cuda": "for buffers of a GPU",
    "accelerator": "for buffers of a GPU",
}
_SWITCHES = {"hcoll": "coll_hcoll_enable", "ucc": "coll_ucc_enable"}
"""Parameters without which a component stays off."""

_KNOWN = ("tuned", "basic", "han", "adapt", "sm", "xhc", "acoll", "ucc", "hcoll")
_SHARED_MEMORY = ("vader", "sm")  # its name up to 4.1, and from 5.0
_MECHANISMS = ("cma", "xpmem", "knem")
_DEVICES = {"xpmem": "/dev/xpmem", "knem": "/dev/knem"}
"""What the kernel module of a mechanism makes; without it the library starts, and copies otherwise."""
_MECHANISM = "btl_vader_single_copy_mechanism"
_ANY_NETWORK = "--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any"
"""Without the last two UCX refuses machines without InfiniBand."""


def offered_variants(mpi: Mpi) -> dict[str, OfferedVariants]:
    """What ompi_info lists: `components` of collectives, and `transports`; nothing without ompi_info."""
    listed = ask_ompi_info(mpi, "--all")
    return {"components": components(listed), "transports": transports(listed)} if listed else {}


def components(parsable: str) -> OfferedVariants:
    """A variant that prefers each component of `coll`, or excludes it if it already has the highest priority."""
    listed = _listed(parsable, "coll")
    settings = read_settings(parsable)
    priorities = {name: _priority(settings, f"coll_{name}") for name in listed if name not in _NOT_COMPETING}
    first = max(priorities, key=lambda name: priorities[name], default="")
    variants = {}
    for name in priorities:
        if name == first:
            variants[f"no-{name}"] = f"--mca coll ^{name}"
        elif f"coll_{name}_priority" in settings:
            switch = f"--mca {_SWITCHES[name]} 1 " if _SWITCHES.get(name) in settings else ""
            variants[name] = f"{switch}--mca coll_{name}_priority {_PREFERRED}"
    left_out = {name: _NOT_COMPETING[name] for name in listed if name in _NOT_COMPETING}
    left_out |= {name: "no priority to set" for name in priorities if name not in variants and name != first}
    left_out |= {name: "not in this library" for name in _KNOWN if name not in listed}
    return OfferedVariants(variants, left_out, of_components=True)


def transports(parsable: str) -> OfferedVariants:
    """A variant for each layer but shared memory, for UCX, and for each single copy that is not in force."""
    layers, settings = _listed(parsable, "btl"), read_settings(parsable)
    variants = {
        name: f"--mca pml ob1 --mca btl self,{name}" for name in layers if name not in ("self", *_SHARED_MEMORY)
    }
    if "ucx" in _listed(parsable, "pml") and "pml_ucx_tls" in settings:
        variants["ucx"] = _ANY_NETWORK
    single_copy = dict(_single_copy(parsable, settings))
    variants |= {name: words for name, words in single_copy.items() if words}
    left_out = {name: "in force by default" for name, words in single_copy.items() if not words}
    without_device = [name for name in single_copy if name in _DEVICES and not Path(_DEVICES[name]).exists()]
    left_out |= {name: f"this computer has no {_DEVICES[name]}" for name in without_device}
    variants = {name: words for name, words in variants.items() if name not in without_device}
    missing = [name for name in _MECHANISMS if name not in single_copy]
    if "ucx" not in variants:
        missing.append("ucx")
    return OfferedVariants(variants, left_out | dict.fromkeys(missing, "not in this library"))


def _single_copy(parsable: str, settings: dict[str, Setting]) -> Iterator[tuple[str, str]]:
    """Each mechanism and the words that choose it, none for the one in force; `no-single-copy` for none at all."""
    if _MECHANISM in settings:
        for match in filter(None, map(_ENUMERATOR.fullmatch, parsable.splitlines())):
            if match["name"] == _MECHANISM:
                name = "no-single-copy" if match["value"] == "none" else match["value"]
                in_force = settings[_MECHANISM].value == match["value"]
                yield name, "" if in_force else f"--mca {_MECHANISM} {match['value']}"
        return
    listed = _listed(parsable, "smsc")
    usable = [name for name in listed if name not in _DEVICES or Path(_DEVICES[name]).exists()]
    first = max(usable, key=lambda name: _priority(settings, f"smsc_{name}"), default="")
    for name in listed:
        if name in _MECHANISMS:
            yield name, "" if name == first else f"--mca smsc {name}"
    if listed:
        yield "no-single-copy", f"--mca smsc ^{','.join(listed)}"


def _listed(parsable: str, framework: str) -> list[str]:
    return sorted(listed_components(parsable).get(framework, ()))


def _priority(settings: dict[str, Setting], component: str) -> int:
    setting = settings.get(f"{component}_priority")
    return int(setting.value) if setting and setting.value.lstrip("-").isdigit() else -1
