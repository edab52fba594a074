"""The page for students: its commands make the folder that it promises."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.typed import typed
from tests.installed import needs_simgrid
from tests.test_docs import DOCS, blocks, run_command

PAGE = DOCS / "how-to" / "figures-and-tables.md"
MAX_COMMANDS = 3


@needs_simgrid
def test_its_commands_make_all_tables_and_figures(tmp_path: Path) -> None:
    (block,) = [block for block in blocks(PAGE) if "make setup" in block.text]
    setup, *commands = [line.removeprefix("$ ") for line in block.text.splitlines()]
    assert setup.startswith("make setup")
    assert len(commands) < MAX_COMMANDS
    for command in commands:
        run_command(command, tmp_path)
    report = tmp_path / "report"
    tables = (report / "tables.tex").read_text()
    captions = re.findall(r"\\caption\{(\w+), ([\w\\]+): OSU average latency", tables)
    assert captions == [
        ("Broadcast", "default"),
        ("Broadcast", "chain"),
        ("Broadcast", r"scatter\_allgather\_ring"),
        ("Scatter", "default"),
        ("Scatter", r"basic\_linear"),
        ("Scatter", r"linear\_nb"),
    ]
    assert tables.count("stands in for") == 4
    figures = {path.name for path in (report / "latency-against-size").glob("*.pdf")}
    assert figures == {"bcast.pdf", "scatter.pdf"}
    assert (report / "index.html").exists()


@needs_simgrid
def test_a_study_by_both_methods_is_one_table_and_a_paper_that_latex_compiles(tmp_path: Path) -> None:
    words = (
        "study",
        "bcast-scatter-full-nodes",
        "--on",
        "simgrid:two-nodes-of-24",
        "--ranks",
        "4",
        "--sizes",
        "8",
        "-o",
        "both",
    )
    planned = typed(*words, "--dry-run", cwd=tmp_path)
    assert (planned.returncode, (tmp_path / "both").exists()) == (0, False)
    assert "planning by timpani" in planned.stderr
    assert "measuring" not in planned.stderr
    done = typed(*words, "--format", "json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    tables = json.loads(done.stdout)["both-methods"]
    assert [len(table["rows"]) for table in tables] == [1] * 6
    row = next(table for table in tables if table["caption"] == "Broadcast, chain")["rows"][0]
    assert row["ratio"] == pytest.approx(row["by Timpani"] / row["as published"])
    paper = (tmp_path / "both" / "report.tex").read_text()
    assert [part.partition("}")[0] for part in paper.split(r"\section{")[1:]] == [
        *("Methods", "Figures", "Conclusions", "Tables")
    ]
    for path in re.findall(r"\\includegraphics\[.*?\]\{(.*?)\}", paper):
        assert (tmp_path / "both" / f"{path}.pdf").exists()
    compiler, search = shutil.which("pdflatex"), shutil.which("kpsewhich")
    if compiler and search and not subprocess.run([search, "booktabs.sty"], stdout=subprocess.DEVNULL).returncode:
        subprocess.run([compiler, "-draftmode", "-halt-on-error", "report.tex"], cwd=tmp_path / "both", check=True)
