"""`timpani doctor` as a user runs it."""

import json
import os
from pathlib import Path

from tests.cli.typed import typed


def test_findings_are_printed_and_the_status_says_whether_one_is_a_problem() -> None:
    printed = typed("doctor", "--format", "json")
    findings = json.loads(printed.stdout)
    assert {"level", "subject", "what", "fix"} == set(findings[0])
    problems = [finding for finding in findings if finding["level"] == "problem"]
    assert printed.returncode == (1 if problems else 0)
    table = typed("doctor")
    assert table.returncode == printed.returncode
    assert "shared memory" in table.stdout


def test_an_unusable_launcher_is_a_warning_or_a_problem(tmp_path: Path) -> None:
    launcher = tmp_path / "mpirun"
    launcher.write_text("#!/bin/sh\necho a stranger\n")
    launcher.chmod(0o755)
    printed = typed(
        "doctor", "--format", "json", env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    )
    [finding] = [each for each in json.loads(printed.stdout) if "a stranger" in each["what"]]
    assert finding["level"] in ("warning", "problem")
    assert finding["fix"]
