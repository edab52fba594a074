"""The study files that come with the package."""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from timpani.study.study import Study, read_study


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
    folder = Path(str(resources.files("timpani") / "studies"))
    return tuple(ShippedStudy(path.stem, path) for path in sorted(folder.glob("*.toml")))
