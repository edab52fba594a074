"""The programs that a lab needs, also found in the folders of administration programs."""

import os
import shutil

from timpani.errors import UserError

ADMINISTRATION = ("/usr/sbin", "/sbin")
"""Folders of tc, slurmctld and similar programs; a user's PATH, and so sudo's, may lack them."""

_ALWAYS = {"iproute2": ("ip", "tc"), "util-linux": ("nsenter", "unshare"), "hostname": ("hostname",)}
_SLURM = {"munge": ("munged",), "slurm-wlm": ("slurmctld", "slurmd", "sbatch", "sinfo")}


def search_path() -> str:
    """PATH, followed by the folders of administration programs."""
    return os.pathsep.join((os.environ.get("PATH", os.defpath), *ADMINISTRATION))


def search_environment() -> dict[str, str]:
    """The environment with `search_path` as PATH, for all programs that make, watch or remove a lab."""
    return {**os.environ, "PATH": search_path()}


def check_programs(slurm: bool) -> None:
    """UserError if a program that a lab needs is missing."""
    for package, programs in (_ALWAYS | (_SLURM if slurm else {})).items():
        for program in programs:
            if shutil.which(program, path=search_path()) is None:
                raise UserError(f"a lab needs {program}, which is not installed", f"install {package}")
