"""Standard output on a full disk or closed, other encodings, and little of what the system gives: never a traceback."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TIMPANI = str(Path(sys.executable).with_name("timpani"))
OSU_LOG = Path(__file__).parents[1] / "data/osu/bcast-7.4-full.txt"


def shell(command: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["bash", "-c", command, "bash", TIMPANI, sys.executable],
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )


def test_a_full_disk_under_standard_output_is_one_line() -> None:
    done = shell('"$1" list studies > /dev/full')
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        "timpani: standard output can't be written (No space left on device); make room, or write elsewhere"
    ]


def test_standard_output_may_be_closed() -> None:
    done = shell('"$1" list studies >&-')
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_characters_missing_from_an_encoding_are_printed_as_question_marks(tmp_path: Path) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "COLUMNS": "80"}
    done = shell('"$1" run --help', **plain)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.isascii()
    if shutil.which("localedef") and Path("/usr/share/i18n/locales/de_DE").exists():
        places = [tmp_path / "de_DE.ISO-8859-1"]
        subprocess.run(["localedef", "-i", "de_DE", "-f", "ISO-8859-1", "--no-archive", *places], check=True)
        other = shell('"$1" run --help', LC_ALL="de_DE.ISO-8859-1", LOCPATH=str(tmp_path))
        assert (other.returncode, other.stderr) == (0, b"")


def test_programs_that_are_started_get_the_locale_of_the_user() -> None:
    code = "import sys; sys.path[:0] = sys.argv[1:]; "
    code += "from timpani.cli.terminal.standard_streams import prepare; prepare(); "
    code += "import os; print(os.environ.get('PYTHONUTF8'), os.environ.get('PYTHONIOENCODING'), sys.flags.utf8_mode)"
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, **plain}, capture_output=True, check=False)
    assert done.stdout.decode().split() == ["None", "None", "1"], done.stderr.decode()


@pytest.mark.parametrize("limit", [8, 63])
def test_few_open_files_are_one_line(limit: int) -> None:
    # Python itself: in a folder with a space pip starts it by a shell, which takes more open files.
    main = "from timpani.cli import main; main()"
    done = shell(f'ulimit -n {limit}; "$2" -c "{main}" run bcast --sizes 8 --launches 1 --dry-run')
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines() == [
        f"timpani: {limit} open files at a time is too low a limit; raise the limit: `ulimit -n 1024`"
    ]


def test_a_small_address_space_is_one_line() -> None:
    done = shell('ulimit -v 550000; "$1" list studies')
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines() == [
        "timpani: 550000 KiB of address space is too low a limit; raise the limit: `ulimit -v 1572864`"
    ]


def test_tables_are_shown_without_what_draws_figures(tmp_path: Path) -> None:
    (tmp_path / "vl_convert.py").write_text("raise ImportError('x.so: failed to map segment from shared object')")
    put = f"import sys; sys.path.insert(0, '{tmp_path}'); from timpani.cli import main; main()"
    assert shell(f'"$2" -c "{put}" import {shlex.quote(str(OSU_LOG))} --ranks 4 -o {tmp_path}/campaign').returncode == 0
    assert shell(f'"$2" -c "{put}" show {tmp_path}/campaign').returncode == 0
    done = shell(f'"$2" -c "{put}" report {tmp_path}/campaign')
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        "timpani: there is too little memory; raise the limit (`ulimit -v`), or use a computer with more"
    ]


def test_figures_in_an_address_space_that_tables_fit_into_are_refused(tmp_path: Path) -> None:
    assert shell(f'"$1" import {shlex.quote(str(OSU_LOG))} --ranks 4 -o {tmp_path}/campaign').returncode == 0
    done = shell(f'ulimit -v {8 * 2**20}; "$1" report {tmp_path}/campaign')
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        "timpani: drawing a figure reserves 66 GiB of address space, and 8 GiB are allowed; "
        "raise the limit (`ulimit -v unlimited`), or print tables: `timpani show`"
    ]


def test_an_empty_program_name_is_refused() -> None:
    done = shell("\"$1\" profile -o profile -- ''")
    assert (done.returncode, done.stderr) == (2, b"timpani: the program has no name; name a program after `--`\n")
