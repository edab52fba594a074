"""Environment modules: the environment after `module load`."""

import os
import shutil
import subprocess
from collections.abc import Sequence

from timpani.errors import UserError

# `module` is a function of login shells. Module names are passed as arguments, never as shell text.
_SCRIPT = 'module load "$@" >&2 && env -0'
_SECONDS = 60


def load_modules(modules: Sequence[str]) -> dict[str, str]:
    """The environment with `modules` loaded; this process's own without modules."""
    if not modules:
        return dict(os.environ)
    shell = shutil.which("bash")
    if shell is None:
        raise UserError("modules need bash, which is not installed", "set PATH yourself, and leave modules out")
    named = " ".join(modules)
    try:
        done = subprocess.run(
            [shell, "-lc", _SCRIPT, "timpani", *modules],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"`module load {named}` took over {_SECONDS} s", "load them yourself") from None
    said = " ".join(done.stderr.decode(errors="replace").split())
    # Old versions of `module` report an unknown name but exit with 0.
    if done.returncode or "ERROR" in said:
        raise UserError(f"`module load {named}` failed: {said[-200:]}", "`module avail` lists modules")
    pairs = (entry.partition(b"=") for entry in done.stdout.split(b"\0") if entry)
    return {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
