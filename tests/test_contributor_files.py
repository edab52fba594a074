"""The files that hosting sites and tools read: they call what exists, and name the version that is built."""

import re
import tomllib
from pathlib import Path

from timpani.version import __version__

ROOT = Path(__file__).parents[1]


def test_the_citation_names_the_version_and_license_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    cited = dict(re.findall(r'^(\w+): "?([^"\n]+)"?$', (ROOT / "CITATION.cff").read_text(), re.M))
    assert (cited["version"], cited["license"]) == (__version__, project["license"])


def test_workflow_and_hook_call_scripts_that_exist() -> None:
    workflow = (ROOT / ".github" / "workflows" / "checks.yml").read_text()
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    called = [*re.findall(r"- run: (\S+)$", workflow, re.M), *re.findall(r"entry: (\S+)$", hooks, re.M)]
    assert called == [".ci/run", "tools/lint"]
    for script in called:
        assert (ROOT / script).stat().st_mode & 0o111
