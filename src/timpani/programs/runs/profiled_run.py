"""Run a command under the library that counts, and what became of it."""

import hashlib
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO

from timpani.campaign.run.processes import Processes
from timpani.errors import UserError
from timpani.native.announce import announce
from timpani.native.children import die_with_parent
from timpani.programs.profile.profile_folder import (
    ProfileHeader,
    ProfileWriter,
    ProgramMpi,
    ProgramProfile,
    read_profile,
)
from timpani.programs.profile.profile_lines import ProfilePart
from timpani.programs.profile.profiled_points import proving_variables
from timpani.programs.runs.preloaded_command import cannot_start, library_of, preloaded_command
from timpani.study.words import counted

SIGNALLED = 128
"""Exit status of a command that a signal ended, plus the signal's number, as shells and launchers report it."""


@dataclass(frozen=True)
class ProfiledRun:
    """A run that ended: its profile, and the exit status of the command."""

    profile: ProgramProfile
    status: int


def profiled_run(
    command: Sequence[str],
    folder: Path,
    rules: Path | None = None,
    on: str | None = None,
    mpi: str | None = None,
    *,
    prove: bool = False,
    sites: bool = False,
) -> ProfiledRun:
    """Run `command` and write its profile into the new `folder`; UserError where it can't be started.

    prove  count the messages of its collectives
    sites  count its collectives by their place in the program

    Signals that end this process are passed to the command, so that what it counted so far is kept.
    """
    if not str(folder.resolve()).isprintable():
        raise UserError(f"the name {str(folder)!a} can't be printed", "choose another folder with -o")
    variables = {"TIMPANI_PROFILE": str(folder.resolve())}
    if sites:
        variables["TIMPANI_SITES"] = "1"
    if prove:
        variables |= proving_variables(library_of(command, mpi))
    prepared = preloaded_command(command, rules, on, mpi, variables)
    library = prepared.library
    header = ProfileHeader(
        command=tuple(command),
        mpi=ProgramMpi(kind=library.kind, name=library.name, version=library.version, mpirun=str(library.mpirun)),
        rules=rules.read_text(errors="replace") if rules else None,
    )
    writer = ProfileWriter(folder, header)  # refuses a folder in use, whose program must not be ended
    try:
        with (processes := processes_of(folder)).start("run"):
            began = time.monotonic()
            status = run_command(prepared.argv, {**prepared.environment, **processes.environment("run")})
            seconds = time.monotonic() - began
    except UserError:  # it can't be started
        writer.discard()
        raise
    writer.seal(status, seconds)
    run = ProfiledRun(read_profile(folder), status)
    if not run.profile.parts:
        writer.discard()
    return run


def processes_of(folder: Path) -> Processes:
    """The processes of the command that writes into `folder`, also of one whose Timpani was killed."""
    return Processes(hashlib.sha256(bytes(folder.resolve())).hexdigest(), announce)


def run_command(argv: Sequence[str], environment: dict[str, str], output: IO[bytes] | None = None) -> int:
    """Run a command, which ends with this process; its exit status, as shells report it where a signal ended it.

    output  takes what it prints; None: the terminal does
    """
    try:
        process = subprocess.Popen(
            argv, env=environment, stdout=output, stderr=output and subprocess.STDOUT, preexec_fn=die_with_parent
        )
    except OSError as error:
        raise cannot_start(argv[0], error) from None

    def pass_on(number: int, _: FrameType | None) -> None:
        process.send_signal(number)

    hangup = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)  # `nohup` ignores it
    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM, *hangup)}
    try:
        status = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return SIGNALLED - status if status < 0 else status


def ending_lines(run: ProfiledRun) -> Iterator[str]:
    """What a user should know of how a run ended, a line each; nothing where all is as usual."""
    parts, status = run.profile.parts, run.status
    if ended := _signal_name(status):
        yield f"the command ended by {ended}"
    elif status:
        yield f"the command ended with status {status}"
    if not parts:
        yield f"no profile: {_why_no_calls(status)}"
        return
    whole = [part for part in parts if not part.program.partial]
    if len(whole) > 1:
        names = ", ".join(f"{' : '.join(part.programs)} ({part.path.name})" for part in whole)
        yield f"{counted(len(whole), 'program')} called MPI: {names}"
    for part in parts:
        yield from _part_lines(part)


def _why_no_calls(status: int) -> str:
    early = " Or rank 0 ended before it wrote what it knew, which it does after the first second" if status else ""
    return (
        "no process that loaded Timpani's library called MPI_Init; is it an MPI program, and does a script of the "
        f"command clear LD_PRELOAD?{early}"
    )


def _part_lines(part: ProfilePart) -> Iterator[str]:
    name = " : ".join(part.programs)
    if part.program.note:
        yield f"{part.path.name}: {name}: {part.program.note}"
    if not any(line.form in ("blocking", "non_blocking", "persistent") for line in part.calls):
        yield f"{name} called no collective: no algorithm can gain it anything"


def _signal_name(status: int) -> str | None:
    number = status - SIGNALLED
    return signal.Signals(number).name if number in {*signal.Signals} else None
