"""What pages say is true: commands run, examples run, links lead somewhere, lists name what the code has."""

import gzip
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tools.reference import tables
from tools.tables import reference_pages

import timpani
from tests.cli.typed import typed
from tests.installed import needs_open_mpi, needs_two_cores
from timpani.libraries.library import Library
from timpani.libraries.registry import LIBRARIES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])

SECONDS = 600  # a documented command that takes longer, also on a busy machine, hangs

_BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
_COMMAND = re.compile(r"^\$ (?P<command>timpani(?: .*?)?(?<!\\))$", re.DOTALL | re.MULTILINE)
_OF_SHELLS = re.compile(r"[|&;<>()$`*?\[\]#~{}!]")  # what a shell may take for more than a word
_NOT_RUN = re.compile(r"not run: (?P<reason>.+)")
_FILE = re.compile(r"file: (?P<name>[\w.-]+)")
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)|!\[[^\]]*\]\((?P<image>[^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block and the comment on the line before it."""

    mark: str
    language: str
    text: str

    @property
    def runs(self) -> bool:
        return not self.mark.startswith("not run")


def blocks(page: Path) -> list[Block]:
    return [Block(found["mark"] or "", found["language"], found["text"]) for found in _BLOCK.finditer(page.read_text())]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def has_commands(page: Path) -> bool:
    return any(_COMMAND.search(block.text) for block in blocks(page) if block.language == "console" and block.runs)


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Does what a page says, in the order it says it, once; returns the folder that this was done in."""

    @cache
    def follow(page: Path) -> Path:
        folder = tmp_path_factory.mktemp(page.stem)
        for block in blocks(page):
            if (file := _FILE.fullmatch(block.mark)) is not None:
                (folder / file["name"]).write_text(block.text)
            elif block.language == "console" and block.runs:
                for found in _COMMAND.finditer(block.text):
                    run_command(found["command"], folder)
            elif block.language == "python" and block.runs:
                run([sys.executable, "-c", block.text], folder)
        return folder

    return follow


def run_command(command: str, folder: Path) -> None:
    """Do as a shell would; one is asked where more than words stand there, or what comes takes the process's place."""
    if _OF_SHELLS.search(command) or command.startswith("timpani preload"):
        run(["bash", "-c", command], folder)
    else:
        done = typed(*shlex.split(command.replace("\\\n", " "))[1:], cwd=folder)
        cannot_tell = "--fail-on" in command and "with so few launches" in done.stderr  # the machine's state changed
        assert done.returncode == 0 or cannot_tell, f"{command}\n{done.stdout}{done.stderr}"


def run(command: list[str], folder: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{command[-1]}\n{done.stdout}"


@needs_open_mpi  # the pages' examples are Open MPI's
@needs_two_cores
@pytest.mark.parametrize("page", [page for page in PAGES if has_commands(page)], ids=name_of)
def test_commands_run_as_written(page: Path, followed: Callable[[Path], Path]) -> None:
    followed(page)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_marks_are_known_and_say_why(page: Path) -> None:
    for block in blocks(page):
        assert not block.mark or _FILE.fullmatch(block.mark) or _NOT_RUN.fullmatch(block.mark), block.mark


def anchors(page: Path) -> Iterator[str]:
    """The names by which headings can be linked to, as GitHub makes them."""
    text = _BLOCK.sub("", page.read_text())
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for link in _LINK.finditer(_BLOCK.sub("", page.read_text())):
        target, _, anchor = (link["target"] or link["image"]).partition("#")
        if "://" in target:
            continue
        there = (page.parent / target).resolve() if target else page
        assert there.exists(), f"{name_of(page)} links to {target}"
        assert not anchor or anchor in anchors(there), f"{name_of(page)} links to {target}#{anchor}"


def section(page: Path, heading: str) -> str:
    """The text under a heading, up to the next one."""
    found = re.search(rf"^#+ {re.escape(heading)}$(.*?)(?=^#+ |\Z)", page.read_text(), re.DOTALL | re.MULTILINE)
    assert found, f"{name_of(page)} has no heading '{heading}'"
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of the tables in `text`, without their heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cut = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [cells for cells, following in zip(cut, [*cut[1:], [""]], strict=True) if not _rule(cells, following)]


def _rule(cells: list[str], following: list[str]) -> bool:
    """Whether this is the line under a table's head, or the head above it."""
    return set(cells[0]) <= {"-"} or bool(following[0] and set(following[0]) <= {"-"})


def first_column(text: str) -> list[str]:
    """The names in backticks in the first column of the tables in `text`."""
    return [name for cells in rows(text) for name in re.findall(r"`([^`]+)`", cells[0])]


CAMPAIGN_FOLDER = DOCS / "campaign-folder.md"
GLOSSARY = DOCS / "glossary.md"


def test_pages_link_to_each_reference_page() -> None:
    """By the section of reference.md that describes it: the site puts the page in its place."""
    reference = DOCS / "reference.md"
    assert {name.removesuffix(".md") for name in reference_pages()} <= set(anchors(reference))


def test_tables_are_those_of_the_declarations() -> None:
    check = [sys.executable, "-m", "tools.tables", "--check"]
    done = subprocess.run(check, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def keys_of_lines(path: Path) -> set[str]:
    return {key for line in path.read_text().splitlines() for key in json.loads(line)}


@needs_open_mpi
@needs_two_cores
def test_campaign_page_names_what_is_written(followed: Callable[[Path], Path]) -> None:
    campaign = followed(CAMPAIGN_FOLDER) / "mine"
    header: dict[str, Any] = json.loads((campaign / "campaign.json").read_text())
    made = {name: set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) for name, table in tables().items()}
    assert made["header"] == set(header)
    of_lines = set(first_column(section(CAMPAIGN_FOLDER, "What shows damage")))
    for name in ("launches", "endings"):
        assert made[name] | of_lines == keys_of_lines(campaign / f"{name}.jsonl")

    with gzip.open(campaign / "launches" / "0001-1" / "samples.jsonl.gz", "rt") as lines:
        measured = [line["measured"] for line in map(json.loads, lines) if "measured" in line]
    of_patterns = {"lateness_ns", "largest_lateness_ns", "lateness_error_ns"}  # only where ranks enter late
    assert made["measured"] == set(measured[0]) | of_patterns

    listed = {name.partition("/")[0] for name in first_column(section(CAMPAIGN_FOLDER, "The campaign folder"))}
    assert {path.name for path in campaign.iterdir()} <= listed
    start = {path.name for path in (campaign / "launches" / "0001-1").iterdir()}
    assert start == {
        name.rpartition("/")[2]
        for name in first_column(section(CAMPAIGN_FOLDER, "The campaign folder"))
        if name.startswith("launches/")
    }


MAX_GLOSSARY_ENTRIES = 40
MAX_WORDS = 50_000
MAX_WORDS_OF_PAGES = {"notebook": 400, "methodology.md": 4500}


def test_the_glossary_is_short_and_sorted() -> None:
    entries = re.findall(r"^\| \*\*(.+?)\*\* \|", GLOSSARY.read_text(), re.MULTILINE)
    assert 0 < len(entries) <= MAX_GLOSSARY_ENTRIES
    assert entries == sorted(entries, key=str.lower)


def test_every_how_to_is_listed() -> None:
    folder = DOCS / "how-to"
    listed = {link["target"] for link in _LINK.finditer((folder / "README.md").read_text())}
    assert {page.name for page in folder.glob("*.md")} - {"README.md"} <= listed


def words_in(page: Path) -> int:
    return len([word for word in page.read_text().split() if re.search(r"\w", word)])


def test_pages_are_short() -> None:
    """What the code can print stands on the site only."""
    for part, limit in MAX_WORDS_OF_PAGES.items():
        pages = sorted((DOCS / part).glob("*.md")) or [DOCS / part]
        assert {name_of(page): words for page in pages if (words := words_in(page)) > limit} == {}
    assert sum(len(page.read_text().split()) for page in PAGES) <= MAX_WORDS


_NAMED_FILE = re.compile(r"(?<![\w/.<>~{$*-])(?:[\w-]+/)+[\w-]+\.(?:cmake|cpp|css|def|hpp|js|md|py|toml)\b")


def test_files_that_the_code_names_exist() -> None:
    folders = [ROOT / name for name in ("bench", "docs", "native", "src", "tests", "tools")]
    files = [f"/{path.relative_to(ROOT)}" for folder in folders for path in folder.rglob("*.*")]
    sources = [
        Path(f"{ROOT}{file}") for file in files if re.search(r"^/(native|src)/.*\.(cmake|cpp|def|hpp|py)$", file)
    ]
    named = {name: source.name for source in sources for name in _NAMED_FILE.findall(source.read_text())}
    assert {name: by for name, by in named.items() if not any(file.endswith(f"/{name}") for file in files)} == {}


def test_a_library_is_named_in_its_folder_alone() -> None:
    """But where its files are read, and where it is what users mean who name none."""
    source = Path(timpani.__file__).parent
    names = "|".join(LIBRARIES)
    naming = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if re.search(rf'"({names})"', path.read_text()) and path.parent.parent != source / "libraries"
    }
    assert naming == {
        *("machine/platform.py", "cli/cluster.py"),
        *("libraries/find.py", "libraries/vendors.py"),
        "imports/pico_files.py",  # of what PICO calls them
        *("native/carried.py", "native/packages.py"),  # a binary interface, and packages, with the same name
    }


def test_page_on_adding_a_library_names_all_that_it_answers() -> None:
    page = (DOCS / "how-to" / "add-an-mpi-library.md").read_text()
    assert [field.name for field in fields(Library) if f"`{field.name}`" not in page] == []
