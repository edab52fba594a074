"""The study files that come with the package."""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from timpani.slices import Hook
from timpani.study.study import Study, read_study

_FOLDERS: Hook[Path] = Hook("STUDY_FILES")


@dataclass(frozen=True)
class ShippedStudy:
    """A study file of the package: its name is the file's, without `.toml`."""

    name: str
    path: Path

    @property
    def study(self) -> Study:
        return read_study(self.path)

    @property
    def title(self) -> str:
        return self.study.title

    @property
    def question(self) -> str:
        return self.study.question


def shipped_studies() -> tuple[ShippedStudy, ...]:
    """All shipped studies, by name."""
    core = Path(str(resources.files("timpani")))
    files = sorted((path for folder in (core, *_FOLDERS.added()) for path in folder.glob("*.toml")), key=_by_name)
    return tuple(ShippedStudy(path.stem, path) for path in files)


def _by_name(path: Path) -> str:
    return path.stem
