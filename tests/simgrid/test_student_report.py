"""The page for students: its commands make the folder that it promises."""

import re
from pathlib import Path

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
