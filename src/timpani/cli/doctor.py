"""`timpani doctor`: look at the machine before measuring."""

from enum import StrEnum
from typing import Annotated

import typer


class Format(StrEnum):
    """How findings are printed."""

    table = "table"
    json = "json"


def doctor(
    format: Annotated[Format, typer.Option(help="How to print the findings.")] = Format.table,
) -> None:
    """Say which MPI libraries are here, and what would spoil a measurement and how to fix it."""
    import json
    from dataclasses import asdict

    from timpani.machine.checks.findings import examine

    findings = examine()
    if format is Format.json:
        typer.echo(json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False))
    else:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table("", "subject", "finding", box=None, header_style="bold", padding=(0, 1))
        marks = {"ok": ("ok", "green"), "warning": ("warning", "yellow"), "problem": ("PROBLEM", "bold red")}
        for finding in findings:
            what = Text(finding.what)
            if finding.fix:
                what.append(f"\n→ {finding.fix}", style="dim" if finding.level == "ok" else "")
            table.add_row(Text(*marks[finding.level]), finding.subject, what)
        Console().print(table)
    if any(finding.level == "problem" for finding in findings):
        raise typer.Exit(1)
