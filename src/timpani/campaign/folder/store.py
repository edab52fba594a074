"""Write a campaign folder: created once, appended to, continued by the same command, never overwritten."""

import fcntl
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from timpani.campaign.folder.fields import JobFields, is_part
from timpani.campaign.folder.header import UNFINISHED, Header, keep_header
from timpani.campaign.folder.launch_result import LaunchResult, Proof
from timpani.campaign.folder.records import ENDINGS, JOBS, LAUNCHES, PROOFS, RESULTS, repair
from timpani.campaign.folder.sealed import AppendedFile, lost_name
from timpani.errors import UserError, cannot_lock, cannot_write
from timpani.study.cell import Cell
from timpani.study.schema import cell_columns, cell_of

PROVIDER = "imported"
"""Whose algorithm an imported one is when nobody says: no benchmark prints the library or its algorithm."""

_LOCK_SECONDS = 2.0
"""For which a lock that is held is tried again: what a killed run was about to start holds it until it has become its
program, which takes a moment on a busy machine."""

_MIN_DISK_SPACE = 2**16
"""Bytes that must be left: the raw samples of a cell take about half of it."""


@dataclass(frozen=True)
class Unended:
    """A start of the MPI program without an ending: its folder, and what was known of its end, if anything.

    launch  its number; None of one that gave no results
    """

    part: str
    launch: int | None
    folder: Path
    ending: dict[str, Any] | None


class Store:
    """A campaign folder opened for measuring into; one process at a time."""

    def __init__(self, folder: Path, header: Header, lock_seconds: float = _LOCK_SECONDS) -> None:
        """Create or continue the campaign of `header` in `folder`; what of it can't be trusted is set aside.

        UserError when the folder holds something else, another study, or another process uses it for `lock_seconds`.
        """
        self.folder = folder
        self._lock, self.header = self._take(folder, header, lock_seconds)
        try:
            with self.writing():
                records, self._reopened, self.repaired = repair(folder, self.header)
        except BaseException:
            os.close(self._lock)
            raise
        self._files = {
            name: AppendedFile(folder / name, len(lines), self.header.sealed_for(name))
            for name, lines in records.believed.items()
        }
        self.results = [LaunchResult.from_line(line) for line in records.values(RESULTS)]  # that were there already
        self.done = {(each.cell, each.launch): each.error for each in self.results}  # measured → why it failed
        self.proven = {cell_of(line) for line in records.values(PROOFS)}  # the cells that have a proof
        self._given = Counter(each.part for each in self.results if each.samples is not None)
        self._given += Counter(line["part"] for line in records.values(PROOFS) if line.get("part"))
        self.endings = records.values(ENDINGS)  # and those that were added since
        ended = {line["part"] for line in self.endings}
        self._jobs = {(line["machine"], line["job"]) for line in records.values(JOBS)}
        self._job: str | None = None  # that this process is in
        self._job_of = {line["part"]: line.get("job") for line in records.values(LAUNCHES)}
        self._open = [line for line in records.values(LAUNCHES) if line["part"] not in ended]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.close()
        os.close(self._lock)

    def enter_job(self, job: JobFields) -> None:
        """Append `job` unless it is there; later starts and results are of it."""
        if (job["machine"], job["job"]) not in self._jobs:
            self._append(JOBS, {**job})
            self._jobs.add((job["machine"], job["job"]))
        self._job = job["job"]

    def add_result(self, result: LaunchResult) -> None:
        """Append a result of the job that its start ran in."""
        self._append(RESULTS, replace(result, job=self._job_of.get(result.part, result.job or self._job)).as_line())
        self.done[result.cell, result.launch] = result.error
        if result.samples is not None:
            self._given[result.part] += 1

    def add_start(self, launch: dict[str, Any]) -> None:
        """Append the description of one start of the MPI program in this job, before it begins."""
        self._append(LAUNCHES, {**launch, "job": self._job})
        self._job_of[launch["part"]] = self._job

    def add_ending(self, part: str, facts: dict[str, Any]) -> None:
        """Append the ending of the start `part` and its recorded `facts`, after its results."""
        ending = {"part": part, "results": self._given[part], **facts}
        self._append(ENDINGS, ending)
        self.endings.append(ending)

    def add_proof(self, proof: Proof) -> None:
        """Append one cell's message matrix."""
        values = asdict(proof)
        del values["cell"]
        self._append(PROOFS, {**cell_columns(proof.cell), **values})
        self.proven.add(proof.cell)
        self._given[proof.part] += 1

    @property
    def mark(self) -> str:
        """What processes of this campaign are marked with: its copies, which have its id, are other folders."""
        place = self.folder.stat()
        return f"{self.header.id}.{place.st_dev:x}.{place.st_ino:x}"

    def succeeded(self) -> set[Cell]:
        """The cells that have a time."""
        return {cell for (cell, _), error in self.done.items() if error is None}

    def unended(self) -> Iterator[Unended]:
        """The starts whose end nobody lived to record, or whose results were lost since."""
        for line in self._open:
            part = line["part"]
            yield Unended(part, line.get("launch"), self.folder / "launches" / part, self._reopened.get(part))

    def unpacked(self) -> Iterator[Path]:
        """The raw records that are not packed yet."""
        for path in sorted((self.folder / "launches").glob("*/samples.jsonl")):
            if is_part(path.parent.name):
                yield path

    def start_folder(self, launch: int | None) -> Path:
        """A new folder for one start of the MPI program within launch number `launch`; None: one without results."""
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
            probe.write_bytes(bytes(_MIN_DISK_SPACE))
        finally:
            probe.unlink(missing_ok=True)

    def _append(self, name: str, values: dict[str, Any]) -> None:
        """Append a line while this process still holds the folder's lock: another could take a new lock file."""
        if what := lost_name(self.folder / "lock", self._lock):
            raise UserError(f"{self.folder / 'lock'} {what} while this run held it", "start the same command again")
        self._files[name].append(values)

    @staticmethod
    def _take(folder: Path, header: Header, lock_seconds: float) -> tuple[int, Header]:
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
        except OSError as error:
            raise cannot_write(folder, error) from None
        lock = lock_folder(folder, lock_seconds)
        try:
            return lock, keep_header(folder, header)
        except BaseException:
            os.close(lock)
            raise


def lock_folder(folder: Path, seconds: float = 0.0) -> int:
    """The descriptor of the folder's lock, which this process holds until it closes it.

    UserError if another process holds the lock for `seconds`, or where the system has no locks.
    """
    path = folder / "lock"
    try:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise cannot_write(folder, error) from None
    until = time.monotonic() + seconds
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    what = f"another timpani command is measuring into {folder}"
                    raise UserError(what, "wait for it to end") from None
                time.sleep(0.02)
            except OSError as error:
                step = "measure into a folder on a local disk, or mount Lustre with `-o flock`"
                raise cannot_lock(path, error, step) from None
            else:
                return lock
    except BaseException:
        os.close(lock)
        raise


def check_empty(folder: Path) -> None:
    """UserError where `folder` holds more than what an import leaves that could not write its header."""
    if folder.exists() and (not folder.is_dir() or {each.name for each in folder.iterdir()} - {"lock", UNFINISHED}):
        raise UserError(f"{folder} is not empty", "choose another folder with -o")


@dataclass(frozen=True)
class ImportedJob:
    """A job of an import, and what is known of its starts: their lines of launches.jsonl, and of endings.jsonl."""

    fields: JobFields
    starts: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = ()


def write_import(
    folder: Path, header: Header, results: Iterable[LaunchResult], jobs: Iterable[ImportedJob] = ()
) -> None:
    """Write the campaign of `header` into the empty `folder`; if that fails, as on a full disk, nothing of it stays."""
    with Store(folder, header) as store:
        try:
            for job in jobs:
                store.enter_job(job.fields)
                for start, ending in job.starts:
                    store.add_start(start)
                    store.add_ending(start["part"], ending)
            for result in results:
                store.add_result(result)
        except BaseException:
            shutil.rmtree(folder.resolve(), ignore_errors=True)
            raise
