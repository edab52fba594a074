"""The exact versions of tools/constraints.txt: one for each requirement of pyproject.toml, within its range."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
_REQUIREMENT = re.compile(r"(?P<name>[\w-]+)(?:>=(?P<lowest>[\d.]+))?")


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)]


def test_every_requirement_has_an_exact_version_within_its_range() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    listed = [
        *project["build-system"]["requires"],
        *project["project"]["dependencies"],
        *(each for extra in project["project"]["optional-dependencies"].values() for each in extra),
    ]
    lines = (ROOT / "tools/constraints.txt").read_text().splitlines()
    exact = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    wanted = {}
    for requirement in listed:
        match = _REQUIREMENT.fullmatch(requirement)
        assert match, requirement
        wanted[match["name"]] = match["lowest"] or "0"
    assert exact.keys() == wanted.keys()
    assert not [name for name, lowest in wanted.items() if _numbers(exact[name]) < _numbers(lowest)]
