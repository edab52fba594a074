"""tools/release tags only what is committed, named in CHANGELOG.md and tested."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WHEEL = "timpani-1.2.3-py3-none-any.whl"


def git(folder: Path, *words: str) -> str:
    author = {f"GIT_{role}_{what}": "t@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **author, "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(["git", *words], cwd=folder, env=environment, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository whose version 1.2.3 is ready, and whose Python only pretends to build."""
    folder = tmp_path / "checkout"
    for name in ("tools", "src/timpani", ".venv/bin"):
        (folder / name).mkdir(parents=True)
    shutil.copy(ROOT / "tools" / "release", folder / "tools")
    (folder / "src/timpani/version.py").write_text('__version__ = "1.2.3"\n')
    (folder / "CHANGELOG.md").write_text("# Changes\n\n## 1.2.3, 2026-01-31\n\n## 1.2.2, 2025-12-01\n")
    (folder / "CITATION.cff").write_text('version: "1.2.3"\nlicense: X\n')
    (folder / "pyproject.toml").write_text(
        "[project]\ndynamic = ['version']\nurls = {Homepage = 'https://example.org'} # of the site\n"
    )
    recipe = folder / "packaging/spack/spack_repo/timpani/packages/timpani/package.py"
    recipe.parent.mkdir(parents=True)
    recipe.write_text('    homepage = ""\n    version("1.2.3")\n')
    (folder / "packaging/easybuild").mkdir()
    (folder / "packaging/easybuild/t.eb").write_text("homepage = ''\n'checksums': [None]\n")
    (folder / ".gitignore").write_text(".venv\ndist\nfail*\n")
    python = folder / ".venv/bin/python"
    python.write_text("""#!/bin/sh
case "$*" in
*hatchling\\ build*) mkdir dist && echo > dist/timpani-1.2.3.tar.gz ;;
*pip\\ wheel*dist/timpani-1.2.3.tar.gz) echo > dist/timpani-1.2.3-py3-none-any.whl ;;
*pip\\ wheel*dist\\ .) echo > dist/timpani-1.2.3-py3-none-manylinux_2_28_$TIMPANI_CARRY.whl ;;
-m\\ venv\\ --without-pip*) mkdir "$4/bin" ;;
*cyclonedx_py*) cp "$5" dist/timpani-1.2.3.cdx.json ;;
esac
""")
    python.chmod(0o755)
    test_wheel = folder / "tools" / "test-wheel"
    test_wheel.write_text('#!/bin/sh\n[ "${WHEEL#dist/timpani-1.2.3-py3}" != "$WHEEL" ] && [ ! -e "fail$1" ]\n')
    test_wheel.chmod(0o755)
    git(folder, "init", "--quiet")
    commit(folder)
    return folder


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "Prepare a release")


def release(folder: Path, tests: str = "true") -> "subprocess.CompletedProcess[str]":
    identity = {f"GIT_COMMITTER_{what}": "t@example.org" for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **identity, "TIMPANI_RELEASE_TESTS": tests, "GIT_CONFIG_GLOBAL": os.devnull}
    command = [folder / "tools" / "release"]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_a_ready_release_is_built_and_tagged(checkout: Path) -> None:
    done = release(checkout)
    assert done.returncode == 0, done.stderr
    checksums = {name: checksum for checksum, name in map(str.split, done.stdout.splitlines())}
    dist = checkout / "dist"
    assert {name: hashlib.sha256((dist / name).read_bytes()).hexdigest() for name in checksums} == checksums
    assert checksums.keys() | {"SHA256SUMS"} == {path.name for path in dist.iterdir()}
    sdist = checksums["timpani-1.2.3.tar.gz"]
    assert (dist / "package.py").read_text() == (
        f'    homepage = \'https://example.org\'\n    version("1.2.3", sha256="{sdist}")\n'
    )
    assert (dist / "t.eb").read_text() == f"homepage = 'https://example.org'\n'checksums': ['{sdist}']\n"
    assert 'url: "https://example.org"' in (dist / "CITATION.cff").read_text()
    assert (dist / "release-notes.md").read_text() == "## 1.2.3, 2026-01-31\n\n"
    assert 'version = "1.2.3"\n' in (dist / "timpani-1.2.3.cdx.json").read_text()
    assert git(checkout, "tag", "--points-at", "HEAD") == "v1.2.3\n"
    again = release(checkout)
    assert (again.returncode, "v1.2.3 exists already" in again.stderr) == (2, True)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("CHANGELOG.md", "# Changes\n\n## 1.2.3, not yet released\n", "CHANGELOG.md begins with"),
        ("CHANGELOG.md", "# Changes\n\n## 1.2.4, 2026-01-31\n", "CHANGELOG.md begins with"),
        ("CITATION.cff", 'version: "1.2.2"\n', "CITATION.cff has another version"),
        ("src/timpani/version.py", "", "has no version"),
        ("pyproject.toml", "[project.urls]\n[tool]\nHomepage = 'x'\n", "the project has no address"),
    ],
)
def test_a_version_that_files_disagree_on_is_refused(checkout: Path, name: str, content: str, reason: str) -> None:
    (checkout / name).write_text(content)
    commit(checkout)
    done = release(checkout)
    assert (done.returncode, reason in done.stderr) == (2, True), done.stderr
    assert git(checkout, "tag") == ""


@pytest.mark.parametrize("name", ["CHANGELOG.md", "new.txt"])
def test_a_dirty_tree_is_refused(checkout: Path, name: str) -> None:
    with (checkout / name).open("a") as file:
        file.write("more\n")
    done = release(checkout)
    assert (done.returncode, "not committed" in done.stderr) == (2, True)
    assert git(checkout, "tag") == ""


@pytest.mark.parametrize("tests", ["false", "touch new.txt"])
def test_nothing_is_tagged_where_tests_fail_or_change_files(checkout: Path, tests: str) -> None:
    done = release(checkout, tests)
    assert (done.returncode, "nothing was built or tagged" in done.stderr) == (2, True)
    assert git(checkout, "tag") == ""
    assert not (checkout / "dist").exists()


@pytest.mark.parametrize(
    ("failing", "reason"),
    [("fail-q", f"tests of dist/{WHEEL} failed"), ("fail--site", f"the site was not built with dist/{WHEEL}")],
)
def test_nothing_is_tagged_where_the_wheel_fails(checkout: Path, failing: str, reason: str) -> None:
    (checkout / failing).touch()
    done = release(checkout)
    assert (done.returncode, reason in done.stderr) == (2, True), done.stderr
    assert git(checkout, "tag") == ""
