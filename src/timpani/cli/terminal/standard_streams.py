"""Standard input, output and error as the shell and the locale leave them, made fit for what commands print."""

import codecs
import errno
import locale
import os
import sys

from timpani.errors import UserError

_OUTPUT = 1
_ERROR = 2
_UTF8 = "PYTHONUTF8"
_STREAMS = "PYTHONIOENCODING"


def prepare() -> None:
    """Files are UTF-8 whatever the locale is; characters that the terminal's encoding lacks are printed as `?`.

    In a locale of another encoding Python starts anew in its UTF-8 mode, which it must know from the beginning. Closed
    streams become /dev/null, so that no file that is opened later takes their place.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= _ERROR:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    sys.stdout = sys.stdout or open(_OUTPUT, "w", closefd=False)  # noqa: SIM115 - open to the end
    sys.stderr = sys.stderr or open(_ERROR, "w", closefd=False)  # noqa: SIM115 - likewise
    encoding = codecs.lookup(locale.getencoding()).name
    anew = os.environ.get(_STREAMS, "") == f"{encoding}:replace"  # `-X utf8=0` stays, however often it starts anew
    if encoding != "utf-8" and not (sys.flags.utf8_mode or anew):
        os.environ |= {_UTF8: "1", _STREAMS: f"{encoding}:replace"}
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])  # noqa: S606 - the same program, no shell
    if sys.flags.utf8_mode and os.environ.get(_STREAMS, "").endswith(":replace"):
        for name in (_UTF8, _STREAMS):  # programs that are started get the locale of the user
            os.environ.pop(name, None)


def flush() -> None:
    """Write what is printed but not yet written; UserError where standard output takes no more."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise output_lost(error) from None


def output_lost(error: OSError) -> UserError:
    """The error for a standard output that can't be written; nothing more is written there."""
    void = os.open(os.devnull, os.O_WRONLY)
    os.dup2(void, _OUTPUT)  # else Python tries once more as it ends, and prints that it failed
    os.close(void)
    step = "make room, or write elsewhere" if error.errno == errno.ENOSPC else "write elsewhere"
    return UserError(f"standard output can't be written ({error.strerror})", step)
