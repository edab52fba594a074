"""What `timpani` answers to words that a user types, without a new process, which takes ten times as long to start
as most commands take."""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from unittest import mock

from timpani.cli import main


def typed(
    *words: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, columns: int = 100
) -> "subprocess.CompletedProcess[str]":
    """Status and output as of a process; any exception that would end one in a traceback is raised."""
    with _printed() as (out, err), contextlib.chdir(cwd or Path.cwd()):
        argv = ["timpani", *map(str, words)]
        environment = {**(os.environ if env is None else env), "COLUMNS": str(columns)}
        with mock.patch.object(sys, "argv", argv), mock.patch.dict(os.environ, environment, clear=True):
            try:
                main()
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else int(end.code is not None)
    return subprocess.CompletedProcess(argv, status, out.getvalue().decode(), err.getvalue().decode())


@contextlib.contextmanager
def _printed() -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """What is printed within, on both streams."""
    kept = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(each, encoding="utf-8", write_through=True) for each in kept)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield kept
    out.detach()
    err.detach()
