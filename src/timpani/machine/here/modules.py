"""The environment after a shell's commands, such as `module load`."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from timpani.errors import UserError

# `module` is a function of login shells.
_LOAD = 'module load "$@" >&2'
_SECONDS = 60


def shell_environment(
    shell: str, commands: str, arguments: Sequence[str], environment: Mapping[str, str], *, login: bool = False
) -> tuple[dict[str, str] | None, str]:
    """The environment after a shell's `commands`, or None where they fail, and what they print on standard error.

    The `arguments` of the commands never become shell text. OSError or subprocess.TimeoutExpired where they don't end.
    """
    done = subprocess.run(
        [shell, "-lc" if login else "-c", f"{commands} && env -0", "timpani", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_SECONDS,
        check=False,
        env=dict(environment),
    )
    pairs = (entry.partition(b"=") for entry in done.stdout.split(b"\0") if entry)
    found = {os.fsdecode(name): os.fsdecode(value) for name, _, value in pairs}
    return None if done.returncode else found, " ".join(done.stderr.decode(errors="replace").split())


def load_modules(modules: Sequence[str]) -> dict[str, str]:
    """The environment with `modules` loaded; this process's own without modules."""
    if not modules:
        return dict(os.environ)
    shell = shutil.which("bash")
    if shell is None:
        raise UserError("modules need bash, which is not installed", "set PATH yourself, and leave modules out")
    named = " ".join(modules)
    try:
        found, said = shell_environment(shell, _LOAD, modules, os.environ, login=True)
    except subprocess.TimeoutExpired:
        raise UserError(f"`module load {named}` took over {_SECONDS} s", "load them yourself") from None
    # Old versions of `module` report an unknown name but exit with 0.
    if found is None or "ERROR" in said:
        raise UserError(f"`module load {named}` failed: {said[-200:]}", "`module avail` lists modules")
    return found
