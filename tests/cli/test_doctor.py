"""`timpani doctor` as a user runs it."""

import json

from tests.cli.typed import typed


def test_findings_are_printed_and_the_status_says_whether_one_is_a_problem() -> None:
    printed = typed("doctor", "--format", "json")
    findings = json.loads(printed.stdout)
    assert {"level", "subject", "what", "fix"} == set(findings[0])
    assert [finding for finding in findings if finding["level"] != "ok" and not finding["fix"]] == []
    problems = [finding for finding in findings if finding["level"] == "problem"]
    assert printed.returncode == (1 if problems else 0)
    table = typed("doctor")
    assert table.returncode == printed.returncode
    assert "shared memory" in table.stdout
