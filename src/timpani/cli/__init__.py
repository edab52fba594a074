"""The command line: one module per subcommand."""

import errno
import os
import resource
import signal
import sys
from types import FrameType
from typing import Any, NoReturn

import typer

from timpani.cli.commands import COMPLETE, LazyGroup
from timpani.cli.terminal.standard_streams import flush, output_lost, prepare
from timpani.errors import UserError, cannot_write, too_few_files
from timpani.version import __version__

_SIGNALED = 128  # and the signal's number, as shells report it
_INTERRUPTED = _SIGNALED + signal.SIGINT  # the status of who is ended by SIGINT, as shells say it

_CANNOT_ASK = (errno.ENAMETOOLONG, errno.EACCES)
"""Where the system doesn't even say whether there is such a path: each `Path.exists` may end so."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)

REFUSED: Any = getattr(typer, "TyperException", typer.BadParameter.__mro__[2])
"""What typer raises for words that it refuses: its own class, or click's before typer 0.28."""

_WORD_OF_PYDANTIC = "Value error, "
"""It precedes typer's words for a value that is not among the choices."""

_UNBROKEN = "1000"
"""Columns in which rich prints any description of a word as one line."""

_MORE_FILES = "raise the limit: `ulimit -n 1024`"

_MIN_ADDRESS_SPACE = 3 * 2**29
"""Bytes: polars and OpenBLAS start a thread for each core, and end the process with their own words where they get no
more memory. Tables of a small campaign took 1.1 GB with 2 threads and 1.5 GB with 16 (November 2026)."""

_MIN_OPEN_FILES = 64
"""With fewer, programs that Timpani starts fail with other reasons: with 12 to 14 ninja compiles nothing and reports
success (November 2026)."""

app = typer.Typer(
    help="Time MPI, and show which algorithm each collective should use here, how sure that is, and what it gains.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    cls=LazyGroup,
)


@app.callback(invoke_without_command=True)
def timpani(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", "-V", help="Print the version and stop."),
    compile_: bool = typer.Option(False, "--compile", help="Compile native programs that this installation carries."),
) -> None:
    """Time MPI, and show which algorithm each collective should use here, how sure that is, and what it gains."""
    if version:
        typer.echo(f"timpani {__version__}")
        raise typer.Exit
    if compile_:
        from timpani.native.carried import COMPILE

        if context.invoked_subcommand is None:
            raise UserError("--compile compiles what a command needs", "name one: timpani --compile run bcast")
        os.environ[COMPILE] = "1"


_DRAWING = ("altair", "vl_convert")
INSTALL_DRAWING = "`pip install altair vl-convert-python`, which `timpani[report]` brings"


def main() -> None:
    """Run the command line; input that can't be used gives one line on stderr and exit status 2."""
    before, sys.unraisablehook = sys.unraisablehook, _end_if_interrupted
    default = [each for each in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(each) is signal.SIG_DFL]
    for each in default:  # `nohup` ignores one
        signal.signal(each, _end)
    try:
        prepare()
        _prepare_completion()
        _refuse_small_limits()
        _refuse_empty(sys.argv[1:])
        status = app(prog_name="timpani", standalone_mode=False)
        flush()
        sys.exit(status)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except UserError as error:
        _refuse(error)
    except REFUSED as error:
        if refused := refused_value(error):
            _refuse(refused)
        if said := error.format_message().strip().rstrip("."):  # it says nothing where it has printed a help page
            what, _, guess = said.replace(_WORD_OF_PYDANTIC, "", 1).partition(". ")
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "timpani"
            _refuse(UserError(_lower(what), _lower(guess) or f"`{command} --help` shows what it takes"))
        sys.exit(2)
    except ModuleNotFoundError as error:
        if error.name in _DRAWING:
            _refuse(UserError(f"this command draws, and {error.name} is not installed", INSTALL_DRAWING))
        raise
    except OSError as error:
        if refused := _refused_by_system(error):
            _refuse(refused)
        raise
    except MemoryError:
        _refuse(_too_little_memory())
    except ImportError as error:
        if "failed to map segment" not in str(error):  # the loader's words where a library does not fit
            raise
        _refuse(_too_little_memory())
    finally:
        sys.unraisablehook = before
        for each in default:
            signal.signal(each, signal.SIG_DFL)


def _prepare_completion() -> None:
    """Answer a shell that asks for words."""
    if COMPLETE in os.environ:
        from typer._completion_classes import completion_init

        os.environ["COLUMNS"] = _UNBROKEN  # fish takes each line as a word
        completion_init()


def _refuse_small_limits() -> None:
    """UserError where the system gives this process too few open files or too little address space."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY and files < _MIN_OPEN_FILES:
        raise UserError(f"{files} open files at a time is too low a limit", _MORE_FILES)
    allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
    if allowed != resource.RLIM_INFINITY and allowed < _MIN_ADDRESS_SPACE:
        needed, given = _MIN_ADDRESS_SPACE // 1024, allowed // 1024
        raise UserError(f"{given} KiB of address space is too low a limit", f"raise the limit: `ulimit -v {needed}`")


def _refuse_empty(words: list[str]) -> None:
    """UserError where a word is empty, as that of an unset variable: as a path it would be the current folder.

    Words after `--` belong to another program.
    """
    before = "timpani"
    for word in words:
        if word == "--":
            return
        if not word or (word.startswith("--") and word.endswith("=")):
            raise UserError(f"the value after {word or before} is empty", "give a value, or leave it out")
        before = word


def _end(number: int, _: FrameType | None) -> NoReturn:
    """End as by the signal, after temporary folders are removed."""
    sys.exit(_SIGNALED + number)


def _end_if_interrupted(lost: "sys.UnraisableHookArgs") -> None:
    """End the program if a library lost an interrupt: pydantic would complete its check and refuse everything."""
    if lost.exc_type is KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
    sys.__unraisablehook__(lost)


def _too_little_memory() -> UserError:
    return UserError("there is too little memory", "raise the limit (`ulimit -v`), or use a computer with more")


def _refused_by_system(error: OSError) -> UserError | None:
    """What the system refused, in words; None where it must have been a mistake of Timpani's."""
    if too_few_files(error):
        return UserError("too few files may be open at a time", _MORE_FILES)
    if error.errno == errno.ENOMEM:
        return _too_little_memory()
    if error.filename is None:
        return output_lost(error) if error.errno in _FULL else None
    if error.errno in _FULL:
        return cannot_write(error.filename, error)
    if error.errno in _CANNOT_ASK:
        return UserError(f"{error.filename} can't be reached ({error.strerror})", "name a place that you may use")
    return None


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def _refuse(error: UserError) -> NoReturn:
    print(f"timpani: {error}", file=sys.stderr)
    sys.exit(2)


_STEPS = {
    "less_than_equal": "write {le} or less",
    "greater_than_equal": "write {ge} or more",
    "int_parsing": "write a whole number",
    "float_parsing": "write a number",
}
"""What to write instead, by the kind of fault."""


def refused_value(error: Exception) -> UserError | None:
    """The error for a value that pydantic refused, which `error` of typer names its option for; None where another
    fault or another check is behind it."""
    errors = getattr(error.__cause__, "errors", None)
    options = getattr(getattr(error, "param", None), "opts", None)
    if not errors or not options:
        return None
    problem: dict[str, Any] = errors()[0]
    if problem["type"] not in _STEPS:
        return None
    step = _STEPS[problem["type"]].format(**problem.get("ctx", {}))
    return UserError(f"invalid value for '{options[0]}': {problem['input']}", step)
