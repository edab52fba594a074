"""The rooms import each other as docs/architecture.md says, and not otherwise."""

import ast
import re
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import timpani
from timpani.native_sources import folders_without_mpi, sources

ROOT = Path(__file__).parents[1]
SOURCE = Path(timpani.__file__).parent
DOCUMENT = ROOT / "docs" / "architecture.md"

_LINE = re.compile(r"^    (?P<room>\w+): +(?P<imports>\w+(?:, \w+)*)$", re.MULTILINE)


def documented() -> dict[str, list[str]]:
    """The rooms and what they import, in the document's order."""
    return {
        match["room"]: [] if match["imports"] == "nothing" else match["imports"].split(", ")
        for match in _LINE.finditer(DOCUMENT.read_text())
    }


def rooms() -> list[Path]:
    return [folder for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()]


@dataclass(frozen=True)
class Parsed:
    """What the checks below ask of a file: all modules that it imports, also inside functions, and what it defines."""

    imports: tuple[str, ...]
    classes: tuple[str, ...]
    function_lines: dict[str, int]


@cache
def parsed(file: Path) -> Parsed:
    imports: list[str] = []
    classes: list[str] = []
    functions: dict[str, int] = {}
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            imports += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively, which hides the room"
            # Of `from timpani import x` a room may be the name.
            imports += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ClassDef):
            classes.append(node.name)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions[node.name] = max((node.end_lineno or 0) - node.lineno, functions.get(node.name, 0))
    return Parsed(tuple(imports), tuple(classes), functions)


def imported_rooms(room: Path) -> set[str]:
    names = {folder.name for folder in rooms()}
    modules = [module.split(".") for file in room.rglob("*.py") for module in parsed(file).imports]
    return {parts[1] for parts in modules if parts[0] == "timpani" and parts[1] in names} - {room.name}


def test_the_rooms_import_each_other_as_documented() -> None:
    found = {room.name: sorted(imported_rooms(room)) for room in rooms()}
    assert found == documented()


def test_each_room_has_a_row_in_the_document() -> None:
    rows = re.findall(r"^\| `src/timpani/(\w+)/` \|", DOCUMENT.read_text(), re.MULTILINE)
    assert sorted(rows) == sorted(room.name for room in rooms())


_FILE = re.compile(r"`((?:[a-z_]+/)+[a-z_]+\.(?:py|cpp|hpp))`")


def test_files_that_pages_name_exist() -> None:
    places = ((ROOT, ""), (ROOT / "tests", ""), (SOURCE, "src/timpani/"), (NATIVE, "native/"))
    lost = {
        f"{page.relative_to(ROOT)}: {name}"
        for page in ROOT.glob("docs/**/*.md")
        for name in _FILE.findall(page.read_text())
        if not any((folder / name.removeprefix(prefix)).exists() for folder, prefix in places)
    }
    assert not lost


def folders_of(room: Path) -> list[Path]:
    """The packages inside a room; the libraries' folders are entries of one registry, and know no other."""
    return [
        folder for folder in sorted(room.iterdir()) if room.name != "libraries" and (folder / "__init__.py").exists()
    ]


def stated_imports(folder: Path) -> list[str]:
    """What the folder's docstring says that it imports from its own room."""
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
    stated = re.search(r"^Imports: (\w+(?:, \w+)*)\.$", docstring, re.MULTILINE)
    assert stated, f"{folder} does not say what it imports"
    return [] if stated[1] == "nothing" else stated[1].split(", ")


def imported_folders(folder: Path) -> list[str]:
    siblings = {each.name for each in folders_of(folder.parent)}
    modules = [module.split(".") for file in folder.rglob("*.py") for module in parsed(file).imports]
    inside = [parts[2] for parts in modules if parts[:2] == ["timpani", folder.parent.name] and len(parts) > 2]
    assert set(inside) <= siblings, f"{folder} imports what lies above it: {set(inside) - siblings}"
    return sorted(set(inside) - {folder.name})


FOLDERS = [folder for room in sorted(rooms()) for folder in folders_of(room)]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(SOURCE)))
def test_a_folder_imports_what_its_docstring_says(folder: Path) -> None:
    assert imported_folders(folder) == stated_imports(folder)


@pytest.mark.parametrize("room", sorted({folder.parent for folder in FOLDERS}), ids=lambda room: room.name)
def test_no_arrow_inside_a_room_leads_back(room: Path) -> None:
    TopologicalSorter({folder.name: stated_imports(folder) for folder in folders_of(room)}).prepare()


REGISTRIES = {"cli", "tests/cli", "bench"}
"""Folders whose files are entries of one list: a subcommand or a benchmark each."""

MAX_FILES = 20


def test_no_folder_is_a_long_list() -> None:
    folders = [
        (name, folder)
        for top, named in ((SOURCE, ""), (ROOT / "tests", "tests/"), (ROOT / "bench", "bench/"))
        for folder in [top, *(each for each in top.rglob("*") if each.is_dir() and each.name != "__pycache__")]
        if (name := (named + str(folder.relative_to(top))).removesuffix("/.")) not in REGISTRIES
        and "/data" not in name
        and NATIVE not in (folder, *folder.parents)  # where the package is installed; a test below is about them
    ]
    counts = {name: len([file for file in folder.iterdir() if file.is_file()]) for name, folder in folders}
    assert not {name: count for name, count in counts.items() if count > MAX_FILES}


def test_no_two_modules_of_a_room_share_a_name() -> None:
    """Files of different rooms may. A library's files are named as the interface that all libraries have."""
    modules = [
        (file.relative_to(SOURCE).parts[0], file.stem)
        for file in SOURCE.rglob("*.py")
        if file.stem != "__init__" and file.relative_to(SOURCE).parts[0] != "libraries"
    ]
    assert not {module for module in modules if modules.count(module) > 1}


def test_no_two_public_classes_share_a_name() -> None:
    """A search for a class finds one class, and a name in a traceback or a signature needs no module before it."""
    names = [name for file in SOURCE.rglob("*.py") for name in parsed(file).classes if not name.startswith("_")]
    assert not {name for name in names if names.count(name) > 1}


MAX_FUNCTION_LINES = 60


def test_no_function_is_long() -> None:
    long = {
        f"{file.stem}.{name}"
        for folder in (SOURCE, ROOT / "tests", ROOT / "bench")
        for file in folder.rglob("*.py")
        for name, lines in parsed(file).function_lines.items()
        if lines >= MAX_FUNCTION_LINES
    }
    assert not long


MAX_ROOMS, MAX_FLOORS = 17, 9


def test_few_rooms_stand_on_few_floors_and_no_arrow_leads_back() -> None:
    floors: dict[str, int] = {}
    for room, imports in documented().items():
        assert set(imports) <= floors.keys(), f"{room} imports a room below it"
        floors[room] = 1 + max((floors[each] for each in imports), default=0)
    assert len(floors) <= MAX_ROOMS
    assert max(floors.values()) <= MAX_FLOORS


def module_graph(folder: Path, package: str) -> dict[str, set[str]]:
    """Every module below `folder`, whose own name is `package`, and those of them that it imports.

    Of `from package.module import name` the module counts; a package that holds modules counts for none.
    """
    modules = {
        ".".join((package, *file.relative_to(folder).with_suffix("").parts)): file
        for file in folder.rglob("*.py")
        if file.name != "__init__.py"
    }
    return {
        name: {
            known
            for imported in parsed(file).imports
            for known in (imported, imported.rpartition(".")[0])
            if known in modules and known != name
        }
        for name, file in modules.items()
    }


def test_no_module_imports_itself_by_way_of_others() -> None:
    TopologicalSorter(module_graph(SOURCE, "timpani")).prepare()


def test_errors_are_everyones_and_import_no_room() -> None:
    assert not [module for module in parsed(SOURCE / "errors.py").imports if module.startswith("timpani")]


NATIVE = sources()
_FOLDER = re.compile(
    r"^- `(?P<folder>[a-z_/]+)`: (?P<holds>(?:.|\n(?!- ))+?)\s+Includes\s+(?P<included>[^.]+)\.$", re.MULTILINE
)
_REGISTRIES = ("algorithms",)
_MAX_FILES = 20


_NATIVE_TYPE = re.compile(r"^(?:class|struct|enum class) (\w+)(?= final|:| [:{])", re.MULTILINE)


def native_folders() -> dict[str, list[Path]]:
    """The source files of each native folder that has any, its tests left out, by the folder's path below native/."""
    files = [file for file in NATIVE.rglob("*") if file.suffix in (".cpp", ".hpp", ".def")]
    folders: dict[str, list[Path]] = {}
    for file in sorted(files):
        folders.setdefault(file.parent.relative_to(NATIVE).as_posix(), []).append(file)
    return {folder: files for folder, files in folders.items() if not folder.startswith("tests")}


def documented_folders() -> dict[str, tuple[str, list[str]]]:
    """What each native folder holds and includes, in the document's order."""
    return {
        match["folder"]: (match["holds"], re.findall(r"`([a-z_/]+)`", match["included"]))
        for match in _FOLDER.finditer(DOCUMENT.read_text())
    }


def included_headers(file: Path) -> list[str]:
    return re.findall(r"#include [<\"]([^>\"]+)", file.read_text())


def shared_stems(root: Path, suffixes: tuple[str, ...]) -> dict[str, list[Path]]:
    """The files below `root` whose stem others have that do not implement the same interface: those in another folder,
    or of the same suffix. Each `main` is a program's, and each `__init__` a package's."""
    by_stem: dict[str, list[Path]] = {}
    for file in sorted(path for path in root.rglob("*") if path.suffix in suffixes):
        by_stem.setdefault(file.stem, []).append(file)
    return {
        stem: files
        for stem, files in by_stem.items()
        if stem not in ("main", "__init__", "__main__")
        and (len({file.parent for file in files}) > 1 or len({file.suffix for file in files}) < len(files))
    }


def test_native_folders_include_each_other_as_documented() -> None:
    found = {
        folder: sorted(
            {Path(header).parent.as_posix() for file in files for header in included_headers(file) if "/" in header}
            & native_folders().keys() - {folder}
        )
        for folder, files in native_folders().items()
    }
    assert found == {folder: included for folder, (_, included) in documented_folders().items()}


def test_no_native_arrow_leads_back() -> None:
    above: set[str] = set()
    for folder, (_, included) in documented_folders().items():
        assert set(included) <= above, f"native/{folder} includes a folder below it"
        above.add(folder)


def test_mpi_is_included_only_where_the_document_allows_it() -> None:
    without = [folder for folder, (holds, _) in documented_folders().items() if holds.endswith("no `mpi.h`.")]
    assert "collectives" in without
    for folder in without:
        assert not [file for file in native_folders()[folder] if "mpi.h" in included_headers(file)]


def test_folders_without_mpi_are_listed_for_the_build_and_include_no_others() -> None:
    documented = documented_folders()
    without = {folder for folder, (holds, _) in documented.items() if holds.endswith("no `mpi.h`.")}
    assert folders_without_mpi(NATIVE) == without
    assert not [folder for folder in without if set(documented[folder][1]) - without]


def test_no_native_folder_but_a_registry_has_more_than_20_files() -> None:
    sizes = {folder: len(files) for folder, files in native_folders().items() if folder not in _REGISTRIES}
    assert max(sizes.values()) <= _MAX_FILES, sizes


def test_native_files_that_share_a_stem_implement_one_interface() -> None:
    assert shared_stems(NATIVE, (".cpp", ".hpp", ".def")) == {}


def test_no_two_public_native_types_share_a_name() -> None:
    headers = [file for folder in native_folders().values() for file in folder if file.suffix == ".hpp"]
    names = [name for file in headers for name in _NATIVE_TYPE.findall(file.read_text())]
    assert not {name for name in names if names.count(name) > 1}


def test_native_tests_mirror_native() -> None:
    rooms = {folder.split("/")[0] for folder in native_folders()}
    tested = {path.name for path in (NATIVE / "tests").iterdir() if path.is_dir()}
    assert tested <= rooms, "a folder of native/tests is named like none of native"
