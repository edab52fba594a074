"""Write a campaign folder: created once, appended to, continued by the same command, never overwritten."""

import errno
import fcntl
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from timpani.campaign.header import UNFINISHED, Header, keep_header
from timpani.campaign.load import frame, read_proofs, read_results
from timpani.campaign.record import LaunchResult, Proof
from timpani.errors import UserError, cannot_write
from timpani.study.cell import Cell
from timpani.study.schema import cell_columns, cell_of

_LEAST_DISK_SPACE = 2**16
"""Bytes that must be left: the raw samples of a cell take about half of it."""

_TIMED = re.compile(r"(?P<launch>\d{4,})-\d+")


class Store:
    """A campaign folder opened for measuring into; one process at a time."""

    def __init__(self, folder: Path, header: Header) -> None:
        """Create or continue the campaign of `header` in `folder`.

        UserError when the folder holds something else, another study, or is in use by another process.
        """
        self.folder = folder
        self.torn: list[str] = []  # what was set aside, in words
        self._lock = self._take(folder, header)
        self._repair()
        lines = read_results(folder)
        frame(lines, folder / "results.jsonl")
        self.done: dict[tuple[Cell, int], str | None] = {}  # measured (cell, launch) → why it failed
        for line in lines:
            result = LaunchResult.from_line(line)
            self.done[result.cell, result.launch] = result.error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._lock)

    def add_result(self, result: LaunchResult) -> None:
        """Append a result; what was appended is on its way to the disk as one whole line."""
        self._append("results.jsonl", result.as_line())
        self.done[result.cell, result.launch] = result.error

    def add_launch(self, launch: dict[str, Any]) -> None:
        """Append the description of one start of the MPI program."""
        self._append("launches.jsonl", launch)

    def add_proof(self, proof: Proof) -> None:
        """Append one cell's message matrix."""
        values = asdict(proof)
        del values["cell"]
        self._append("proofs.jsonl", {**cell_columns(proof.cell), **values})

    def succeeded(self) -> set[Cell]:
        """The cells that have a time."""
        return {cell for (cell, _), error in self.done.items() if error is None}

    def proven(self) -> set[Cell]:
        """The cells that have a proof."""
        return {cell_of(line) for line in read_proofs(self.folder)}

    def unrecorded(self) -> Iterator[tuple[int, Path]]:
        """Raw records of timed launches that were not taken over, with the launch's number."""
        for path in sorted((self.folder / "launches").glob("*/samples.jsonl")):
            if match := _TIMED.fullmatch(path.parent.name):
                yield int(match["launch"]), path

    def start_folder(self, launch: int | None) -> Path:
        """A new folder for one start of the MPI program within launch number `launch`; None: to count messages."""
        name = "proof" if launch is None else f"{launch:04d}"
        attempt = 1 + sum(1 for _ in (self.folder / "launches").glob(f"{name}-*"))
        while True:
            path = self.folder / "launches" / f"{name}-{attempt}"
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                attempt += 1
            else:
                return path

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Within, what the system refuses to write becomes an error for the user."""
        try:
            yield
        except OSError as error:
            raise cannot_write(Path(error.filename or self.folder), error) from None

    def check_disk_space(self) -> None:
        """OSError where the disk is full: then a launch that died of it says nothing about its cell."""
        probe = self.folder / "launches" / "probe"
        try:
            probe.write_bytes(bytes(_LEAST_DISK_SPACE))
        finally:
            probe.unlink(missing_ok=True)

    def _append(self, name: str, line: dict[str, Any]) -> None:
        raw = (json.dumps(line, ensure_ascii=False) + "\n").encode()
        file = os.open(self.folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            before = os.fstat(file).st_size
            try:
                written = os.write(file, raw)
            except OSError as error:
                raise cannot_write(self.folder / name, error) from None
            if written != len(raw):
                os.ftruncate(file, before)
                raise cannot_write(self.folder / name, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        finally:
            os.close(file)

    @staticmethod
    def _take(folder: Path, header: Header) -> int:
        if not str(folder).isprintable():  # records, reports and logs name it
            raise UserError(f"the name {str(folder)!a} can't be printed", "choose another folder with -o")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / "campaign.json").exists():
                foreign = {path.name for path in folder.iterdir()} - {"lock", UNFINISHED}
                if foreign:
                    raise UserError(
                        f"{folder} holds {min(foreign)} and is not a campaign", "choose another folder with -o"
                    )
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise cannot_write(folder, error) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise UserError(
                f"another timpani run is measuring into {folder}", "wait for it, or choose another -o"
            ) from None
        try:
            keep_header(folder, header)
            return lock
        except BaseException:
            os.close(lock)
            raise

    def _repair(self) -> None:
        """Set a torn last line aside; a foreign line elsewhere stays an error, since nothing of ours writes one."""
        for name in ("results.jsonl", "launches.jsonl", "proofs.jsonl"):
            path = self.folder / name
            if not path.exists():
                continue
            raw = path.read_bytes()
            whole = raw.rfind(b"\n") + 1
            if whole == len(raw):
                continue
            aside = next(
                candidate
                for number in range(1, 1_000_000)
                if not (candidate := self.folder / "launches" / f"{name}.torn-{number}").exists()
            )
            with self.writing():
                aside.parent.mkdir(exist_ok=True)
                aside.write_bytes(raw[whole:])
                os.truncate(path, whole)
            self.torn.append(f"a torn last line of {path} was set aside as {aside}")
