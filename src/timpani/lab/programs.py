"""The programs that a lab takes, found also where only root's PATH leads."""

import os
import shutil

from timpani.errors import UserError

ADMINISTRATION = ("/usr/sbin", "/sbin")
"""Where distributions keep tc, slurmctld and their like; a user's PATH, and so sudo's, may leave these out."""

_ALWAYS = {"iproute2": ("ip", "tc"), "util-linux": ("nsenter", "unshare"), "hostname": ("hostname",)}
_SLURM = {"munge": ("munged",), "slurm-wlm": ("slurmctld", "slurmd", "sbatch", "sinfo")}


def search_path() -> str:
    """PATH, and behind it the folders for administration."""
    return os.pathsep.join((os.environ.get("PATH", os.defpath), *ADMINISTRATION))


def search_environment() -> dict[str, str]:
    """Our environment with `search_path` as PATH: for every program that a lab is made, watched or taken down by."""
    return {**os.environ, "PATH": search_path()}


def check_programs(slurm: bool) -> None:
    """UserError without a program that a lab takes."""
    for package, programs in (_ALWAYS | (_SLURM if slurm else {})).items():
        for program in programs:
            if shutil.which(program, path=search_path()) is None:
                raise UserError(f"a lab needs {program}, which isn't here", f"install {package}")
