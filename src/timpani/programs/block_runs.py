"""Runs of a user's program in blocks: as it is, and with a choice switched on. Each run is kept when it ends.

program.json   the command, the number of blocks, and what is switched on; sealed
runs.jsonl     a sealed line for each run: its block, its times, its exit status, and the hash of its output
profiles/      what each run counted, and what it printed
"""

import hashlib
import json
import secrets
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import monotonic
from typing import Any, Literal

from timpani.campaign.folder.appending import AppendedFile
from timpani.campaign.folder.sealed_lines import DamageError, read_lines, seal_object, unseal
from timpani.errors import UserError, cannot_write
from timpani.libraries.find import mpi_of_launcher
from timpani.programs.preloaded_command import preloaded_command
from timpani.programs.profile_folder import read_profile
from timpani.programs.profiled_run import run_command
from timpani.reading import parse_json, read_bytes
from timpani.stats.run_blocks import BlockComparison, block_order, compare_blocks
from timpani.study.defaults import MIN_BLOCKS

_HEADER, _RUNS = "program.json", "runs.jsonl"
_FORMAT = "timpani-program-runs"
_SEED = 1

PRINTED = Path("-")
"""In place of a file that is compared: what the program prints."""

Side = Literal["as it is", "with the choice"]
AS_IT_IS: Side = "as it is"
CHOSEN: Side = "with the choice"


@dataclass(frozen=True)
class Choice:
    """What is switched on.

    settings   variables of the library
    rules      a file by which the preloaded library replaces collectives; None: it only counts
    arguments  words for the launcher, before its own
    exported   names of `settings` that the launcher has to pass to the ranks, as no variable of the library
    """

    settings: Mapping[str, str]
    rules: Path | None
    arguments: tuple[str, ...] = ()
    exported: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProgramRun:
    """One run.

    seconds             of the whole command
    collective_seconds  of a rank in blocking collectives, the mean of all ranks
    status              the exit status
    output              SHA-256 of the file that is compared; empty: no file is compared, or none was written
    printed             the file in profiles/ that holds what it printed
    """

    block: int
    side: Side
    seconds: float
    collective_seconds: float
    status: int
    output: str = ""
    printed: str = ""


@dataclass(frozen=True)
class ProgramComparison:
    """Both sides of whole blocks: wall time, and time in collectives where the program has any."""

    wall: BlockComparison
    collectives: BlockComparison | None
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
        same_output: Path | None = None,
        mpi: str | None = None,
    ) -> None:
        """UserError where the folder holds the runs of another command or choice, or damaged ones, and where the choice
        has words for a launcher and the command starts with none.

        mpi  the program's library; None: the launcher's
        """
        self.folder, self._command, self._choice = folder, tuple(command), choice
        self._same_output, self._mpi = same_output, mpi
        rules = choice.rules.read_text(errors="replace") if choice.rules else ""
        described = {
            "format": _FORMAT,
            "command": list(command),
            "directory": str(Path.cwd()),
            "settings": dict(choice.settings),
            "arguments": list(choice.arguments),
            "rules": rules,
            "same_output": str(same_output) if same_output else "",
        }
        if choice.arguments and mpi_of_launcher(command[0]) is None:
            raise UserError(
                f"{command[0]} is no launcher that could take {shlex.join(choice.arguments)}",
                "start the command with mpirun, or leave the launcher's words out of the variant",
            )
        known = self._runs_id(described)
        self.runs: list[ProgramRun] = []
        for line in read_lines(folder / _RUNS, known):
            if line.damage or line.number != line.written:
                why = line.damage or "lines before it were lost"
                raise UserError(f"{folder / _RUNS} line {line.number} can't be trusted: {why}", self._step)
            self.runs.append(ProgramRun(**line.values))
        self._file = AppendedFile(folder / _RUNS, len(self.runs), known)

    @property
    def _step(self) -> str:
        return f"move {self.folder} elsewhere to measure anew"

    def _runs_id(self, described: Mapping[str, Any]) -> str:
        """The id of the runs, kept or new."""
        path = self.folder / _HEADER
        try:
            raw = read_bytes(path, self._step)
            unseal(raw, _FORMAT)
            found = parse_json(raw)
        except FileNotFoundError:
            new = {**described, "id": secrets.token_hex(8)}
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                path.write_bytes(seal_object(json.dumps(new, indent=1).encode(), _FORMAT))
            except OSError as error:
                raise cannot_write(path, error) from None
            return str(new["id"])
        except (DamageError, ValueError) as error:
            raise UserError(f"{path} can't be trusted: {error}", self._step) from None
        if differing := [name for name, value in described.items() if found.get(name, type(value)()) != value]:
            raise UserError(f"{self.folder} holds runs of another {differing[0].replace('_', ' ')}", self._step)
        return str(found["id"])

    def complete(self, blocks: int) -> Iterator[ProgramRun]:
        """Run what `blocks` blocks still lack, and give each run when it is kept.

        UserError where a run fails: then neither side's times say anything.
        """
        sides: tuple[Side, Side] = (AS_IT_IS, CHOSEN)
        done = {(run.block, run.side) for run in self.runs}
        for block in range(1, blocks + 1):
            for side in block_order(sides, block, _SEED):
                if (block, side) in done:
                    continue
                run = self._run(block, side)
                if run.status:
                    raise UserError(
                        f"the program ended with status {run.status} {side}, in block {block}",
                        f"{self.folder / 'profiles' / run.printed} holds what it printed",
                    )
                self._file.append(asdict(run))
                self.runs.append(run)
                yield run

    def _run(self, block: int, side: Side) -> ProgramRun:
        chosen = side == CHOSEN
        profile = self.folder / "profiles" / f"{block:04d}-{'choice' if chosen else 'as-it-is'}-{secrets.token_hex(3)}"
        profile.mkdir(parents=True)
        choice = self._choice if chosen else Choice({}, None)
        given = {"TIMPANI_PROFILE": str(profile.resolve())} | {name: choice.settings[name] for name in choice.exported}
        first, *rest = self._command
        prepared = preloaded_command((first, *choice.arguments, *rest), choice.rules, None, self._mpi, given)
        printed = profile.with_suffix(".out")
        compared = printed if self._same_output == PRINTED else self._same_output
        before = _stamp(compared)
        with printed.open("wb") as output:
            began = monotonic()
            status = run_command(prepared.argv, {**prepared.environment, **choice.settings}, output)
            seconds = monotonic() - began
        if status == 0 and compared and _stamp(compared) == before:
            raise UserError(f"the program did not write {compared}", "name a file that it writes")
        parts = read_profile(profile).parts if any(profile.iterdir()) else ()
        if status == 0 and not parts:
            raise UserError(
                "no process of the command that loaded Timpani's library called MPI_Init, so a choice changes nothing",
                "name an MPI program; a script of the command must not clear LD_PRELOAD",
            )
        spent = sum(part.per_rank(line.ns) for part in parts for line in part.calls if line.form == "blocking")
        return ProgramRun(block, side, seconds, spent, status, _hash(compared), printed.name)

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

        def wall(run: ProgramRun) -> float:
            return run.seconds

        def collectives(run: ProgramRun) -> float:
            return run.collective_seconds

        spends = all(run.collective_seconds > 0 for run in self.runs)
        reference = next((run.output for run in self.runs if run.side == AS_IT_IS), "")
        return ProgramComparison(
            wall=compared(wall),
            collectives=compared(collectives) if spends else None,
            median_seconds={side: median(times(wall, side)) for side in by_side},
            median_collective_seconds={side: median(times(collectives, side)) for side in by_side},
            different_outputs=tuple(run for run in self.runs if run.output != reference),
        )


def _stamp(path: Path | None) -> tuple[int, int] | None:
    """When a file was written last, and its inode; None: it is not there."""
    if path is None or not path.exists():
        return None
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_ino


def _hash(path: Path | None) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path and path.is_file() else ""
