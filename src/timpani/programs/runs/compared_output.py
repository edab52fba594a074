"""The output that all runs of a program should have: which, and whether two outputs are the same."""

import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from timpani.errors import UserError

PRINTED = Path("-")
"""In place of a file: what the program prints."""

_SAME, _DIFFERENT = 0, 1  # exit statuses, as of cmp and diff


@dataclass(frozen=True)
class ComparedOutput:
    """What is compared, and how.

    file   that each run writes, or PRINTED
    judge  a command that gets two outputs as its last words, and ends with status 0 if they are the same and 1 if they
           differ. Empty: outputs are the same if their bytes are
    """

    file: Path
    judge: tuple[str, ...] = ()

    def is_same(self, first: Path, other: Path) -> bool:
        """Whether the judge accepts two outputs that differ in bytes; UserError where it can't judge them."""
        if not self.judge:
            return False
        said = f"the judge {shlex.join(self.judge)}"
        try:
            done = subprocess.run(
                [*self.judge, first.resolve(), other.resolve()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                check=False,
            )
        except OSError as error:
            raise UserError(f"{said} can't be started ({error.strerror})", "name another with --judge") from None
        if done.returncode not in (_SAME, _DIFFERENT):
            printed = done.stdout.decode(errors="replace").splitlines()
            why = f": {printed[-1]}" if printed else ""
            raise UserError(
                f"{said} ended with status {done.returncode} for {first} and {other}{why}",
                "it has to end with 0 for the same output and 1 for another; the runs are kept",
            )
        return done.returncode == _SAME


def judge_words(command: str) -> tuple[str, ...]:
    """The words of a judge, split as a shell would; UserError where the first names no command."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UserError(f"--judge {command!r} can't be split into words ({error})", "close its quotes") from None
    if not words or shutil.which(words[0]) is None:
        raise UserError(f"--judge {command!r} names no command that can be started", "name one: cmp, 'diff -q'")
    return words
