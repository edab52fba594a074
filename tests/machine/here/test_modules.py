"""Environment modules, by a stand-in for the `module` function of login shells."""

from pathlib import Path

import pytest

from timpani.errors import UserError
from timpani.machine.detect import load_modules


@pytest.fixture(autouse=True)
def _login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".bash_profile").write_text(
        # Lmod sets BASH_ENV, by which bash would define its `module` after this one.
        'unset BASH_ENV; module() { [ "$1" = load ] && shift; for name; do case $name in\n'
        'old) echo "ERROR: no module old" >&2;; gone) echo "no module gone" >&2; return 1;;\n'
        '*) export LOADED="$LOADED<$name>"; echo said;; esac; done; }\n'
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def test_loaded_modules_change_the_environment() -> None:
    assert load_modules(["gcc", "openmpi/4.1.6"])["LOADED"] == "<gcc><openmpi/4.1.6>"


def test_a_modules_name_stays_text(tmp_path: Path) -> None:
    assert load_modules(["$(touch x); touch y"])["LOADED"] == "<$(touch x); touch y>"
    assert [path.name for path in tmp_path.iterdir()] == [".bash_profile"]


@pytest.mark.parametrize("name", ["old", "gone"])
def test_a_module_that_is_not_there_is_an_error(name: str) -> None:
    with pytest.raises(UserError, match=f"`module load {name}` failed: .*no module {name}.*`module avail`"):
        load_modules([name])
