"""What a batch system's commands print."""

import shutil
import subprocess

_ANSWER_SECONDS = 30


def command_output(program: str, *arguments: str) -> str:
    """What `program` prints; nothing where it is missing, fails or takes too long."""
    path = shutil.which(program)
    if path is None:
        return ""
    try:
        done = subprocess.run(
            [path, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ANSWER_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout if done.returncode == 0 else ""
