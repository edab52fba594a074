"""The recipes of packaging/ parse, and name the version and the dependencies that pyproject.toml names."""

import ast
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from timpani.version import __version__

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
VERSIONS = tomllib.loads((PACKAGING / "versions.toml").read_text())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = (PROJECT["optional-dependencies"][name] for name in ("report", "compile"))
LOWEST = dict(requirement.split(">=") for part in (PROJECT["dependencies"], *EXTRAS) for requirement in part)
"""The lower bound of each dependency, by its name on PyPI; a recipe installs what draws and compiles, too."""

SPACK = PACKAGING / "spack" / "spack_repo" / "timpani" / "packages" / "timpani" / "package.py"
(EASYBUILD,) = PACKAGING.glob("easybuild/*.eb")


def numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def easyconfig() -> dict[str, Any]:
    """The parameters of the EasyBuild recipe."""
    values: dict[str, Any] = {"SOURCE_PY3_WHL": "%(name)s-%(version)s-py3-none-any.whl"}
    exec(compile(EASYBUILD.read_text(), EASYBUILD, "exec"), values)
    return values


@pytest.mark.parametrize("path", sorted(PACKAGING.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGING)))
def test_python_files_parse(path: Path) -> None:
    assert ast.parse(path.read_text()).body


def test_every_file_names_the_version() -> None:
    release = [SPACK, EASYBUILD, PACKAGING / "Containerfile", PACKAGING / "apptainer.def"]
    release.append(PACKAGING / "ramble" / "applications" / "timpani" / "application.py")
    for path in release:
        assert __version__ in path.read_text(), path
    assert EASYBUILD.name.startswith(f"Timpani-{__version__}-")
    assert easyconfig()["version"] == __version__


def test_the_spack_recipe_has_the_bounds_of_the_project() -> None:
    wanted = dict(re.findall(r'depends_on\("([\w-]+)@([\d.]+):"', SPACK.read_text()))
    build = wanted.pop("py-hatchling")
    assert [f"hatchling>={build}"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert wanted.pop("python") == PROJECT["requires-python"].removeprefix(">=")
    programs = {"cmake", "ninja"}
    named = {name if name in programs else f"py-{name}": lowest for name, lowest in LOWEST.items()}
    assert {name: numbers(lowest)[:3] for name, lowest in wanted.items()} == {
        name: numbers(lowest)[:3] for name, lowest in named.items()
    }


def test_the_easybuild_recipe_has_every_dependency_within_its_bounds() -> None:
    values = easyconfig()
    bundled = {"SciPy-bundle": ("numpy", "scipy"), "Python-bundle-PyPI": ("rich", "jinja2")}
    single = {name.lower(): version for name, version, *_ in [*values["dependencies"], *values["exts_list"]]}
    inside = {name for bundle, names in bundled.items() if bundle.lower() in single for name in names}
    assert LOWEST.keys() - inside <= single.keys()
    assert not [name for name in LOWEST.keys() - inside if numbers(single[name]) < numbers(LOWEST[name])]


def test_systems_have_the_versions_that_recipes_need() -> None:
    wanted = re.findall(r'depends_on\("([\w-]+)@([\d.]+):"', SPACK.read_text())
    assert [name for name, lowest in wanted if numbers(VERSIONS["spack"][name]) < numbers(lowest)] == []
    values = easyconfig()
    built = dict([*values["builddependencies"], *values["dependencies"]])
    assert built == VERSIONS["easybuild"]
    (packages,) = re.findall(r"--no-install-recommends (.+)", (PACKAGING / "Containerfile").read_text())
    assert set(packages.rstrip(" \\").split()) == VERSIONS["debian"].keys()
    assert numbers(VERSIONS["debian"]["python3"]) >= numbers(PROJECT["requires-python"])


def test_no_file_names_a_registrys_host() -> None:
    host = re.compile(rb"pypi\.org|pythonhosted\.|(docker|quay|ghcr)\.io|anaconda\.org")
    kept = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if kept.returncode:
        pytest.skip("may be skipped: this is no checkout")
    files = [path for name in kept.stdout.split("\0") if (path := ROOT / name).is_file()]
    assert ROOT / "Makefile" in files
    assert [path for path in files if host.search(path.read_bytes())] == []


def test_images_install_the_same_packages() -> None:
    container, apptainer = (
        re.findall(r"install -y --no-install-recommends ([\w+ -]+\w)", (PACKAGING / name).read_text())
        for name in ("Containerfile", "apptainer.def")
    )
    assert container == apptainer != []
