"""Each slice can be deleted, and the rest works: types, `timpani run`, `verdict` and `report`, and the tests below."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path

import pytest

import timpani
from tests.campaign_files import cells, results_of, start, write_campaign
from tests.installed import needs_mpi, rest
from tests.test_architecture import documented, parsed
from timpani.slices import slices

ROOT = Path(__file__).parents[1]
SOURCE = Path(timpani.__file__).parent
SLICES = tuple(slices())

_HOOK = re.compile(r'\bHook\(\s*"(\w+)"')
_OF_A_HOOK = re.compile(r"[A-Z][A-Z_]*")

needs_mypy = pytest.mark.needs(find_spec("mypy") is not None, "no mypy in this environment: `tools/setup lint`")


def test_each_variable_of_a_slice_belongs_to_a_hook_and_names_what_exists() -> None:
    hooks = {found for file in SOURCE.rglob("*.py") for found in _HOOK.findall(file.read_text())}
    for name, slice_ in slices().items():
        variables = {key: value for key, value in vars(slice_).items() if _OF_A_HOOK.fullmatch(key)}
        assert variables.keys() <= hooks
        for text in (each for texts in variables.values() for each in texts):
            module, _, variable = text.partition(":")
            assert module.startswith(f"timpani.{name}."), text
            attrgetter(variable)(import_module(module))


def test_nothing_outside_a_slice_imports_it() -> None:
    importers = {
        f"{file.relative_to(SOURCE)} imports {module}"
        for file in SOURCE.rglob("*.py")
        for module in parsed(file).imports
        for name in SLICES
        if file.relative_to(SOURCE).parts[0] != name and f"{module}.".startswith(f"timpani.{name}.")
    }
    assert importers == set()


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what can be deleted; the native sources are the same, so that nothing is compiled again."""
    root = tmp_path_factory.mktemp("slices")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE, root / "src" / "timpani", ignore=ignored, symlinks=True)
    shutil.copytree(ROOT / "tests", root / "tests", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", root)
    for name in ("native", "docs", "tools", "bench"):
        if (ROOT / name).exists():
            (root / name).symlink_to(ROOT / name)
    return root


@contextmanager
def without(root: Path, *names: str) -> Iterator[None]:
    """Within, the copy lacks these slices and their tests."""
    aside = root / "deleted"
    both = [Path(parent, name) for name in names for parent in ("src/timpani", "tests")]
    folders = [folder for folder in both if (root / folder).exists()]
    for folder in folders:
        (aside / folder).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(root / folder, aside / folder)
    try:
        yield
    finally:
        for folder in folders:
            shutil.move(aside / folder, root / folder)


def python(root: Path, *words: str | Path) -> None:
    """Run Python on the copy."""
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}:{root}"}
    done = subprocess.run(
        [sys.executable, *words], cwd=root, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


def check_rest(root: Path) -> None:
    """Types, and the commands that everybody uses, on a recorded campaign."""
    python(root, "-m", "mypy", "--cache-dir", "cache", "src")
    command = ("-c", "from timpani.cli import main; main()")
    python(root, *command, "run", "bcast", "--ranks", "2", "--sizes", "8", "--dry-run")
    times = cells({"default": {8: 10.0, 64: 20.0}, "ring": {8: 5.0, 64: 20.0}, "timpani/binomial": {8: 6.0, 64: 30.0}})
    results = results_of(times)
    campaign = write_campaign(root / "campaign", results, [start(launch) for launch in range(1, 9)])
    python(root, *command, "verdict", campaign)
    python(root, *command, "report", campaign, "-o", root / "report.html", "--force")


@rest
@needs_mpi
@needs_mypy
@pytest.mark.parametrize("name", SLICES)
def test_a_slice_can_be_deleted(copy: Path, name: str) -> None:
    with without(copy, name):
        check_rest(copy)


@rest
@needs_mpi
@needs_mypy
@pytest.mark.skipif(not SLICES, reason="may be skipped: there is no slice")
def test_without_all_slices_the_tests_of_the_rooms_below_pass(copy: Path) -> None:
    # Tests of commands use everything, the commands of slices, too.
    below = {room for name in SLICES for room in documented()[name]} - {*SLICES, "cli"}
    with without(copy, *SLICES):
        check_rest(copy)
        folders = [folder for room in sorted(below) if (folder := copy / "tests" / room).exists()]
        options = ("-q", "-n", "auto", "-p", "no:cacheprovider", "-m", "not needs and not slow")
        python(copy, "-m", "pytest", *options, *folders)
