"""Runs of a user's program in blocks: as it is, and with a choice switched on. Each run is kept when it ends.

program.json   the command, its programs and MPI library, and what is switched on; sealed
runs.jsonl     a sealed line for each run: its block, its times, and the hash of its output
profiles/      what each run counted, and what it printed
outputs/       the files that are compared, each once, named by the start of its hash
"""

import hashlib
import os
import secrets
import shlex
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from operator import attrgetter
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any, Literal

from timpani.campaign.folder.sealed import AppendedFile, SealedFile, read_lines
from timpani.campaign.folder.store import lock_folder
from timpani.errors import UserError, cannot_write
from timpani.libraries.find import mpi_of_launcher
from timpani.programs.profile.profile_folder import read_profile
from timpani.programs.profile.profiled_points import changeable_seconds
from timpani.programs.runs.preloaded_command import identity, preloaded_command
from timpani.programs.runs.profiled_run import processes_of, run_command
from timpani.stats.compare import BlockComparison, block_order, compare_blocks
from timpani.study.defaults import MIN_BLOCKS

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


_HEADER, _RUNS = "program.json", "runs.jsonl"
_FORMAT = "timpani-program-runs"
_SEED = 1

Side = Literal["as it is", "with the choice"]
AS_IT_IS: Side = "as it is"
CHOSEN: Side = "with the choice"


_OTHER = {
    "format": "another version of Timpani",
    "command": "another command",
    "directory": "another directory",
    "library": "another MPI library",
    "programs": "a program with other contents",
    "settings": "other settings",
    "arguments": "other words for the launcher",
    "removed": "other removed variables",
    "rules": "other rules",
    "files": "other tuning files",
    "same_output": "another compared output",
}
"""What differs from the runs that are kept, by the key of the header."""


@dataclass(frozen=True)
class Choice:
    """What is switched on.

    settings   variables of the library
    rules      a file by which the preloaded library replaces collectives; None: it only counts
    arguments  words for the launcher, before its own
    exported   names of `settings` that the launcher has to pass to the ranks, as no variable of the library
    texts      of the files that `settings` name, by their names
    removed    names of variables that its runs go without
    """

    settings: Mapping[str, str]
    rules: Path | None
    arguments: tuple[str, ...] = ()
    exported: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProgramRun:
    """One run.

    seconds             of the whole command
    collective_seconds  of a rank in blocking collectives, the mean of all ranks
    moving_seconds      the same for each collective, without waiting for late ranks
    output              SHA-256 of the output that is compared; empty: outputs are not compared
    printed             the file in profiles/ that holds what it printed
    """

    block: int
    side: Side
    seconds: float
    collective_seconds: float
    moving_seconds: Mapping[str, float]
    output: str = ""
    printed: str = ""

    @property
    def kept_output(self) -> Path:
        """The file that keeps its output, relative to the folder of the runs."""
        return _kept_output(self.output)


@dataclass(frozen=True)
class ProgramComparison:
    """Both sides of whole blocks: wall time, and time in collectives where the program has any.

    by_collective      the time in each collective without waiting for late ranks, if all runs spend time in it
    different_outputs  the first run without the choice and the runs whose output is not the same; empty if all are
    """

    wall: BlockComparison
    collectives: BlockComparison | None
    by_collective: Mapping[str, BlockComparison]
    median_seconds: Mapping[Side, float]
    median_collective_seconds: Mapping[Side, float]
    different_outputs: tuple[ProgramRun, ...]


class BlockRuns:
    """The folder of such runs: new, or continued by the same command."""

    def __init__(
        self,
        folder: Path,
        command: Sequence[str],
        choice: Choice,
        compared_output: ComparedOutput | None = None,
        mpi: str | None = None,
    ) -> None:
        """UserError where the folder holds the runs of another command or choice, or damaged ones, and where the choice
        has words for a launcher and the command starts with none.

        mpi  the program's library; None: the launcher's
        """
        self.folder, self._command, self._choice = folder, tuple(command), choice
        self._compared_output, self._mpi = compared_output, mpi
        rules = choice.rules.read_text(errors="replace") if choice.rules else ""
        described = {
            "format": _FORMAT,
            "command": list(command),
            "directory": str(Path.cwd()),
            **identity(command, mpi),
            "settings": dict(choice.settings),
            "arguments": list(choice.arguments),
            "removed": list(choice.removed),
            "rules": rules,
            "files": dict(choice.texts),
            "same_output": str(compared_output.file) if compared_output else "",
        }
        if choice.arguments and mpi_of_launcher(command[0]) is None:
            raise UserError(
                f"{command[0]} is no launcher that could take {shlex.join(choice.arguments)}",
                "start the command with mpirun, or leave the launcher's words out of the variant",
            )
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise cannot_write(folder, error) from None
        with self._lock():
            self._id = self._runs_id(described)
        self.runs = self._kept_runs()

    @property
    def _step(self) -> str:
        return f"move {self.folder} elsewhere to measure anew"

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Within, no other process writes into the folder; UserError if one does."""
        lock = lock_folder(self.folder)
        try:
            yield
        finally:
            os.close(lock)

    def _kept_runs(self) -> list[ProgramRun]:
        """The runs of the file; UserError where a line is damaged."""
        runs, path = [], self.folder / _RUNS
        for line in read_lines(path, self._id):
            if line.damage or line.number != line.written:
                why = line.damage or "lines before it were lost"
                raise UserError(f"{path} line {line.number} can't be trusted: {why}", self._step)
            runs.append(ProgramRun(**line.values))
        return runs

    def _runs_id(self, described: Mapping[str, Any]) -> str:
        """The id of the runs, kept or new."""
        path = self.folder / _HEADER
        file = SealedFile("the header of runs", _FORMAT, self._step)
        try:
            found = file.read(path, dict)
        except FileNotFoundError:
            found = {**described, "id": secrets.token_hex(8)}
            file.write(path, found)
        if differing := [name for name, value in described.items() if found.get(name) != value]:
            raise UserError(f"{self.folder} holds runs of {_OTHER[differing[0]]}", self._step)
        return str(found["id"])

    def complete(self, blocks: int) -> Iterator[ProgramRun]:
        """Run what `blocks` blocks still lack, and give each run when it is kept.

        UserError where a run fails, since then neither side's times mean anything, and where another process measures.
        """
        sides: tuple[Side, Side] = (AS_IT_IS, CHOSEN)
        with self._lock():
            self.runs = self._kept_runs()
            file = AppendedFile(self.folder / _RUNS, len(self.runs), self._id)
            done = {(run.block, run.side) for run in self.runs}
            for block in range(1, blocks + 1):
                for side in block_order(sides, block, _SEED):
                    if (block, side) not in done:
                        run = self._run(block, side)
                        file.append(asdict(run))
                        self.runs.append(run)
                        yield run
            file.close()

    def _run(self, block: int, side: Side) -> ProgramRun:
        chosen = side == CHOSEN
        profile = self.folder / "profiles" / f"{block:04d}-{'choice' if chosen else 'as-it-is'}-{secrets.token_hex(3)}"
        profile.mkdir(parents=True)
        choice = self._choice if chosen else Choice({}, None)
        given = {"TIMPANI_PROFILE": str(profile.resolve())} | {name: choice.settings[name] for name in choice.exported}
        first, *rest = self._command
        prepared = preloaded_command((first, *choice.arguments, *rest), choice.rules, None, self._mpi, given)
        printed = profile.with_suffix(".out")
        compared = self._compared_output.file if self._compared_output else None
        output = printed if compared == PRINTED else compared
        before = _stamp(output)
        with printed.open("wb") as file, (processes := processes_of(self.folder)).start(part := profile.name):
            began = monotonic()
            kept = {name: value for name, value in prepared.environment.items() if name not in choice.removed}
            status = run_command(prepared.argv, {**kept, **choice.settings, **processes.environment(part)}, file)
            seconds = monotonic() - began
        if status:
            raise UserError(
                f"the program ended with status {status} {side}, in block {block}", f"{printed} holds what it printed"
            )
        if output and _stamp(output) == before:
            raise UserError(f"the program did not write {output}", "name a file that it writes")
        total, moving = _collective_seconds(profile)
        return ProgramRun(block, side, seconds, total, moving, self._keep(output), printed.name)

    def _keep(self, output: Path | None) -> str:
        """Keep an output once; its SHA-256, empty without an output. UserError where it is no file."""
        if output is None:
            return ""
        try:
            with output.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            kept = self.folder / _kept_output(digest)
            if not kept.exists():
                kept.parent.mkdir(exist_ok=True)
                unfinished = kept.with_suffix(".new")
                shutil.copyfile(output, unfinished)
                unfinished.replace(kept)
        except OSError as error:
            raise UserError(
                f"{output} can't be kept in {self.folder} ({error.strerror})", "name a file that the program writes"
            ) from None
        return digest

    def comparison(self) -> ProgramComparison:
        """Of all whole blocks; ValueError without any."""
        by_side: dict[Side, dict[int, ProgramRun]] = {AS_IT_IS: {}, CHOSEN: {}}
        for run in self.runs:
            by_side[run.side][run.block] = run
        blocks = sorted(by_side[AS_IT_IS].keys() & by_side[CHOSEN].keys())

        def times(of: Callable[[ProgramRun], float], side: Side) -> list[float]:
            return [of(by_side[side][block]) for block in blocks]

        def compared(of: Callable[[ProgramRun], float]) -> BlockComparison:
            return compare_blocks(times(of, AS_IT_IS), times(of, CHOSEN), MIN_BLOCKS)

        def moving(name: str) -> Callable[[ProgramRun], float]:
            return lambda run: run.moving_seconds[name]

        wall, collectives = attrgetter("seconds"), attrgetter("collective_seconds")
        spends = all(run.collective_seconds > 0 for run in self.runs)
        names = {name for run in self.runs for name in run.moving_seconds}
        everywhere = [name for name in sorted(names) if all(run.moving_seconds.get(name, 0) > 0 for run in self.runs)]
        return ProgramComparison(
            wall=compared(wall),
            collectives=compared(collectives) if spends else None,
            by_collective={name: compared(moving(name)) for name in everywhere},
            median_seconds={side: median(times(wall, side)) for side in by_side},
            median_collective_seconds={side: median(times(collectives, side)) for side in by_side},
            different_outputs=self._different_outputs(),
        )

    def _different_outputs(self) -> tuple[ProgramRun, ...]:
        """The first run without the choice, then the runs whose output is not the same; none if all are the same."""
        if self._compared_output is None:
            return ()
        first = next(run for run in self.runs if run.side == AS_IT_IS)
        others = {run.output: run for run in self.runs if run.output != first.output}
        differing = {
            output
            for output, run in others.items()
            if not self._compared_output.is_same(self.folder / first.kept_output, self.folder / run.kept_output)
        }
        return (first, *(run for run in self.runs if run.output in differing)) if differing else ()


def _collective_seconds(profile: Path) -> tuple[float, dict[str, float]]:
    """Of a rank in blocking collectives, the mean of all ranks: together, and each without waiting for late ranks.

    UserError where the program wrote no profile.
    """
    parts = read_profile(profile).parts if any(profile.iterdir()) else ()
    if not parts:
        raise UserError(
            "no process of the command that loaded Timpani's library called MPI_Init, so a choice changes nothing",
            "name an MPI program; a script of the command must not clear LD_PRELOAD",
        )
    total, moving = 0.0, defaultdict[str, float](float)
    for part in parts:
        for line in part.calls:
            if line.form == "blocking":
                total += part.per_rank(line.ns)
                moving[line.name] += changeable_seconds(part, line)
    return total, dict(moving)


def _stamp(path: Path | None) -> tuple[int, int] | None:
    """When a file was written last, and its inode; None: it is not there."""
    if path is None or not path.exists():
        return None
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_ino


def _kept_output(digest: str) -> Path:
    return Path("outputs") / digest[:16]
