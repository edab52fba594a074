"""The command line: one module per subcommand."""

import errno
import resource
import signal
import sys
from typing import NoReturn

import typer

from timpani.cli.bundle import bundle
from timpani.cli.check import check
from timpani.cli.compare import compare
from timpani.cli.completion import completion, prepare_completion
from timpani.cli.confirm import confirm
from timpani.cli.doctor import doctor
from timpani.cli.draw import draw
from timpani.cli.fit import fit
from timpani.cli.hostfile import hostfile
from timpani.cli.importing import import_
from timpani.cli.lab import lab
from timpani.cli.listing import list_
from timpani.cli.machine import app as machine
from timpani.cli.merge import merge
from timpani.cli.predict import predict
from timpani.cli.preload import preload
from timpani.cli.profile import profile
from timpani.cli.prove import prove
from timpani.cli.report import report
from timpani.cli.rules import rules
from timpani.cli.run import EXAMPLES, run
from timpani.cli.script import EXAMPLES as SCRIPT_EXAMPLES
from timpani.cli.script import script
from timpani.cli.show import show
from timpani.cli.terminal.help_page import HelpInWords, help_
from timpani.cli.terminal.refused_value import refused_value
from timpani.cli.terminal.standard_streams import flush, output_lost, prepare
from timpani.cli.tune import tune
from timpani.cli.verdict import verdict
from timpani.cli.verify import verify
from timpani.errors import UserError, cannot_write, too_few_files
from timpani.version import __version__

_INTERRUPTED = 130  # the status of who is ended by SIGINT, as shells say it

_CANNOT_ASK = (errno.ENAMETOOLONG, errno.EACCES)
"""Where the system doesn't even say whether there is such a path: each `Path.exists` may end so."""

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO)

_WORD_OF_PYDANTIC = "Value error, "
"""It precedes typer's words for a value that is not among the choices."""

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
    cls=HelpInWords,
)

_MEASURE, _READ, _TUNE, _PROGRAMS, _PREDICT, _CLUSTERS = (
    "Measure",
    "Read what was measured",
    "Tune a library",
    "Replace the collectives of programs",
    "Verify, draw and predict algorithms",
    "Clusters",
)
"""The panels of commands in `timpani --help`."""

app.command("doctor", rich_help_panel=_MEASURE)(doctor)
app.command("list", rich_help_panel=_MEASURE)(list_)
app.command("run", rich_help_panel=_MEASURE, epilog=EXAMPLES)(run)
app.command("import", rich_help_panel=_MEASURE)(import_)
app.command("help", rich_help_panel=_MEASURE)(help_)
app.command("completion", rich_help_panel=_MEASURE)(completion)
app.command("verdict", rich_help_panel=_READ)(verdict)
app.command("show", rich_help_panel=_READ)(show)
app.command("report", rich_help_panel=_READ)(report)
app.command("compare", rich_help_panel=_READ)(compare)
app.command("fit", rich_help_panel=_READ)(fit)
app.command("check", rich_help_panel=_READ)(check)
app.command("bundle", rich_help_panel=_READ)(bundle)
app.command("merge", rich_help_panel=_READ)(merge)
app.add_typer(tune, name="tune", rich_help_panel=_TUNE)
app.command("confirm", rich_help_panel=_TUNE)(confirm)
app.command("rules", rich_help_panel=_PROGRAMS)(rules)
app.command("profile", rich_help_panel=_PROGRAMS)(profile)
app.command("preload", rich_help_panel=_PROGRAMS)(preload)
app.command("prove", rich_help_panel=_PROGRAMS)(prove)
app.command("verify", rich_help_panel=_PREDICT)(verify)
app.command("draw", rich_help_panel=_PREDICT)(draw)
app.command("predict", rich_help_panel=_PREDICT)(predict)
app.add_typer(machine, name="machine", rich_help_panel=_CLUSTERS)
app.command("hostfile", rich_help_panel=_CLUSTERS)(hostfile)
app.command(
    "script",
    rich_help_panel=_CLUSTERS,
    epilog=SCRIPT_EXAMPLES,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)(script)
app.add_typer(lab, name="lab", rich_help_panel=_CLUSTERS)


@app.callback(invoke_without_command=True)
def timpani(
    version: bool = typer.Option(False, "--version", "-V", help="Print the version and stop."),
) -> None:
    """Time MPI, and show which algorithm each collective should use here, how sure that is, and what it gains."""
    if version:
        typer.echo(f"timpani {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; input that can't be used gives one line on stderr and exit status 2."""
    before, sys.unraisablehook = sys.unraisablehook, _end_if_interrupted
    try:
        prepare()
        prepare_completion()
        _refuse_small_limits()
        _refuse_empty(sys.argv[1:])
        status = app(prog_name="timpani", standalone_mode=False)
        flush()
        sys.exit(status)
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    except UserError as error:
        _refuse(error)
    except typer.TyperException as error:
        if refused := refused_value(error):
            _refuse(refused)
        if said := error.format_message().strip().rstrip("."):  # it says nothing where it has printed a help page
            what, _, guess = said.replace(_WORD_OF_PYDANTIC, "", 1).partition(". ")
            context = getattr(error, "ctx", None)
            command = context.command_path if context else "timpani"
            _refuse(UserError(_lower(what), _lower(guess) or f"`{command} --help` shows what it takes"))
        sys.exit(2)
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
