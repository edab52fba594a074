"""`timpani doctor`: look at the machine before measuring."""

from typing import Annotated

import typer

from timpani.cli.terminal.options import Format, format_option


def doctor(
    format: Annotated[Format, format_option("How to print the findings.")] = Format.table,
) -> None:
    """List the MPI libraries here, and what would disturb a measurement, with fixes."""
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

        table = Table("", "subject", box=None, header_style="bold", padding=(0, 1))
        table.add_column("finding", overflow="fold")  # a path without its end can't be copied
        marks = {"ok": ("ok", "green"), "warning": ("warning", "yellow"), "problem": ("PROBLEM", "bold red")}
        for finding in findings:
            what = Text(finding.what)
            if finding.fix:
                what.append(f"\n→ {finding.fix}", style="dim" if finding.level == "ok" else "")
            table.add_row(Text(*marks[finding.level]), finding.subject, what)
        Console().print(table)
    if any(finding.level == "problem" for finding in findings):
        raise typer.Exit(1)
