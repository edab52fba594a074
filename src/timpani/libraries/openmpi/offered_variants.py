"""The components and transports of an installed Open MPI, as variants that compete with the default.

`ompi_info` shows which there are. What they are follows Open MPI's documentation: "Available Collective Components"
(priorities decide, and each can be set) and "Shared Memory" (vader was renamed sm in 5.0; single copies by CMA, XPMEM
and KNEM), docs.open-mpi.org, tuning-apps, 5.0 and 6.0.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from timpani.libraries.library import OfferedVariants
from timpani.libraries.openmpi.settings import Setting, ask_ompi_info, listed_components, read_settings
from timpani.native.mpi import Mpi

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
