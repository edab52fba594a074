"""The command that installs a package on this system, for hints."""

import shutil
from collections.abc import Mapping

_NAMES: Mapping[str, Mapping[str, str]] = {
    "g++": {"dnf": "gcc-c++", "zypper": "gcc-c++"},
    "libmpich-dev": {"dnf": "mpich-devel", "zypper": "mpich-devel"},
    "libopenmpi-dev": {"dnf": "openmpi-devel", "zypper": "openmpi4-devel"},
    "mpich": {"dnf": "mpich", "zypper": "mpich"},
    "openmpi-bin": {"dnf": "openmpi", "zypper": "openmpi4"},
    "openssh-client": {"dnf": "openssh-clients", "zypper": "openssh-clients"},
}
"""By Debian's name of a package what Fedora and RHEL, and openSUSE and SLES call it."""


def install_command(*packages: str) -> str:
    """The command, in backticks, that installs what Debian calls `packages`; in words on another system."""
    for manager in ("apt", "dnf", "zypper"):
        names = [name if manager == "apt" else _NAMES.get(name, {}).get(manager) for name in packages]
        if shutil.which(manager) and all(names):
            return f"`{manager} install {' '.join(filter(None, names))}`"
    return f"install what Debian calls {' and '.join(packages)}"
