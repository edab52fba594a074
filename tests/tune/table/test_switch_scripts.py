"""The scripts that switch tuning files on and off, as shells and Lmod read them: moved, and under another version."""

import os
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest

from tests.libraries.tuned_tables import mpi
from timpani.tune.tuned_files import module_file, switch_off_script, switch_on_script

NAME = "OMPI_MCA_coll_tuned_dynamic_rules_filename"
FILE = "tuned $1's.conf"
SHELLS = [
    pytest.param(shell, marks=pytest.mark.skipif(not shutil.which(shell), reason=f"{shell} is missing"))
    for shell in ("bash", "dash", "zsh")
]
LMOD = Path(os.environ.get("LMOD_CMD", "/usr/share/lmod/lmod/libexec/lmod"))
"""Lmod's program, in Debian's place where no module system is set up."""


def written(folder: Path, version: str = "4.1.4") -> Path:
    """A folder with the three scripts, written for this version of Open MPI."""
    folder.mkdir(parents=True)
    settings = {NAME: str(folder / FILE), "OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}
    (folder / FILE).touch()
    (folder / "on.sh").write_text(switch_on_script("on.sh", settings, folder, mpi(version)))
    (folder / "off.sh").write_text(switch_off_script("off.sh", settings))
    (folder / "modulefile").write_text(module_file(settings, folder, mpi(version), evidence=FILE))
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """With a launcher on PATH that prints 4.1.4 as Open MPI's does."""
    launcher = tmp_path / "bin" / "mpirun"
    launcher.parent.mkdir()
    launcher.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 4.1.4'\n")
    launcher.chmod(0o755)
    return {"PATH": f"{launcher.parent}:{os.environ['PATH']}"}


def run(shell: str, text: str, environment: dict[str, str], *words: str) -> "subprocess.CompletedProcess[str]":
    argv = [shell, "-euc", text, shell, *words]
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=environment)


@pytest.mark.parametrize("shell", SHELLS)
def test_scripts_switch_on_and_off(shell: str, environment: dict[str, str], tmp_path: Path) -> None:
    folder = written(tmp_path / "tu ned")
    done = run(shell, f'. "$1/on.sh"; echo "${NAME}"; . "$1/off.sh"; echo "${{{NAME}-none}}"', environment, str(folder))
    assert (done.returncode, done.stdout) == (0, f"{folder / FILE}\nnone\n"), done.stderr
    assert done.stderr == ""
    for value, order in product(("mine", "0", "", "is $x 'y'"), ("on on off", "off", "on off off")):
        text = "; ".join(f'. "$1/{script}.sh"' for script in order.split())
        done = run(shell, f'{text}; echo "${{{NAME}-none}}"', {**environment, NAME: value}, str(folder))
        assert (done.returncode, done.stdout) == (0, f"{value}\n"), done.stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_a_moved_folder_is_found_or_the_script_says_that_it_was_moved(
    shell: str, environment: dict[str, str], tmp_path: Path
) -> None:
    moved = written(tmp_path / "before").rename(tmp_path / "moved")
    done = run(shell, f'. "$1/on.sh"; echo "${NAME}"', environment, str(moved))
    if shell == "dash":
        assert (done.returncode, done.stdout) == (1, "")
        assert "its folder was moved; read it from bash or zsh" in done.stderr
    else:
        assert (done.returncode, done.stdout) == (0, f"{moved / FILE}\n"), done.stderr


@pytest.mark.parametrize("version", ["5.0.11", "4.1.40", "14.1.4", "4x1.4"])
def test_another_version_is_not_switched_on_in_silence(
    version: str, environment: dict[str, str], tmp_path: Path
) -> None:
    folder = written(tmp_path / "tuned", version)
    done = run("bash", '. "$1/on.sh"', environment, str(folder))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert f"mpirun on PATH is not Open MPI {version}" in done.stderr


def test_a_setting_that_is_replaced_is_named(environment: dict[str, str], tmp_path: Path) -> None:
    done = run("bash", '. "$1/on.sh"', {**environment, NAME: "mine.conf"}, str(written(tmp_path / "tuned")))
    assert (done.returncode, done.stderr) == (0, f"on.sh: replaces {NAME}=mine.conf\n")


@pytest.mark.skipif(not LMOD.exists(), reason="Lmod is missing")
def test_lmod_loads_and_unloads_the_module_of_a_moved_folder(environment: dict[str, str], tmp_path: Path) -> None:
    moved = written(tmp_path / "before").rename(tmp_path / "tu ned")
    modules = tmp_path / "modules" / "timpani-tuned"
    modules.mkdir(parents=True)
    (modules / "4.1.4").symlink_to(moved / "modulefile")
    (modules / "5.0.11").symlink_to(written(tmp_path / "other", "5.0.11") / "modulefile")
    lmod = {**environment, "HOME": str(tmp_path), "MODULEPATH": str(modules.parent), "LMOD_CMD": str(LMOD)}
    function = 'module() { eval "$("$LMOD_CMD" bash "$@")"; }; '

    text = f'module load timpani-tuned/4.1.4; echo "${NAME}"; module unload timpani-tuned; echo "${{{NAME}-none}}"'
    done = run("bash", function + text, {**lmod, NAME: "mine.conf"})
    assert (done.returncode, done.stdout) == (0, f"{moved / FILE}\nnone\n"), done.stderr
    assert done.stderr.strip() == f"the module replaces {NAME}=mine.conf"
    shown = run("bash", function + "module whatis timpani-tuned/4.1.4; module help timpani-tuned/4.1.4", lmod)
    assert "Open MPI 4.1.4 chooses the algorithms" in shown.stderr
    assert "Unload the module" in shown.stderr

    other = run("bash", function + f'module load timpani-tuned/5.0.11 || true; echo "${{{NAME}-none}}"', lmod)
    assert (other.returncode, other.stdout) == (0, "none\n"), other.stderr
    assert "mpirun on PATH is not Open MPI 5.0.11" in other.stderr
