"""Additions planted into a copy of our sources, which is built once for the tests of all of them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import timpani
from tests.builds import build_planted, build_planted_without_mpi
from tests.mpi.planted.plants import copy_native, plant
from timpani.native.mpi import Mpi

ROOT = Path(__file__).parents[3]
HOW_TO = ROOT / "docs" / "how-to" / "add-an-operation.md"
HOW_TO_DECLARE = ROOT / "docs" / "how-to" / "add-a-study-key.md"
PAGES = ("study-files.md",)


def stated(heading: str, how_to: Path = HOW_TO) -> set[str]:
    """The files in the heading of the how-to that begins so."""
    (line,) = (line for line in how_to.read_text().splitlines() if line.startswith(f"## {heading}"))
    return set(re.findall(r"`([^`]+)`", line))


def files(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and root / "build" not in path.parents
    }


def run_planted(root: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run Python on the planted sources, `text` on its standard input."""
    environment = os.environ | {"PYTHONPATH": str(root / "src")}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, input=text, capture_output=True, text=True, check=False)


def write_tables(root: Path) -> None:
    done = run_planted(root, "-m", "tools.tables", str(root))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our sources with what is planted; of our algorithms few, one of them made one of the planted collective."""
    root = tmp_path_factory.mktemp("planted")
    copy_native(root)
    # An installed package has the native sources in its folder `sources`, which would be used in place of the planted.
    ignored = shutil.ignore_patterns("__pycache__", "sources")
    shutil.copytree(Path(timpani.__file__).parent, root / "src" / "timpani", ignore=ignored)
    for page in PAGES:
        (root / "docs").mkdir(exist_ok=True)
        shutil.copy(ROOT / "docs" / page, root / "docs")
    for folder in ("decisions", "how-to"):
        shutil.copytree(ROOT / "docs" / folder, root / "docs" / folder)

    def changed_by(name: str, tables: bool = False) -> set[str]:
        before = files(root)
        plant(root, name)
        if tables:
            write_tables(root)
        after = files(root)
        return {file for file in before.keys() | after.keys() if before.get(file) != after.get(file)}

    assert changed_by("collective") == stated("A collective, to be measured")
    named = stated("Anything else that ranks do")
    assert changed_by("operation") == {name.replace("NAME", "synchronous") for name in named}
    assert changed_by("study key", tables=True) == stated("A study key", HOW_TO_DECLARE)
    assert changed_by("recorded field", tables=True) == stated("A recorded field", HOW_TO_DECLARE)
    plant(root, "misread collective")
    plant(root, "algorithm")
    return root


@pytest.fixture(scope="session")
def planted_programs(mpi: Mpi, planted: Path) -> Path:
    """The folder with the measuring program built from the planted sources."""
    return build_planted(mpi, planted / "native")


@pytest.fixture(scope="session")
def planted_without_mpi(mpi: Mpi, planted: Path) -> Path:
    """The folder with the verifier and the simulator built from the planted sources."""
    return build_planted_without_mpi(mpi, planted / "native")
