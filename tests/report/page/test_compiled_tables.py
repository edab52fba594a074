"""LaTeX compiles the tables of a report within their lines."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from timpani.campaign.folder.load import Campaign
from timpani.report.document.blocks import Table, rows
from timpani.report.document.latex import LINE_PT, PT_PER_MM, latex_of
from timpani.report.page.contents import Report
from timpani.report.page.figure_files import table_files

pytestmark = [
    pytest.mark.rest,
    pytest.mark.needs(shutil.which("pdflatex") is not None, "no LaTeX: apt install texlive-latex-recommended"),
]

DOCUMENT = r"""\documentclass{{article}}
\usepackage{{booktabs,array}}
\setlength\textwidth{{{width}}}
\hsize\textwidth \linewidth\textwidth \columnwidth\textwidth
\hbadness=10000 \hfuzz=0.5pt
\extrafloats{{500}}
\begin{{document}}
{tables}
\end{{document}}
"""


@pytest.mark.parametrize("width_mm", [None, 85.0])
def test_no_table_is_wider_than_its_line_or_longer_than_a_page(
    campaign: Campaign, width_mm: float | None, tmp_path: Path
) -> None:
    files = {path: text.decode() for path, text in table_files(Report(campaign), width_mm).items()}
    tables = [text for path, text in files.items() if path.suffix == ".tex"]
    assert len(tables) >= 4
    line = width_mm * PT_PER_MM if width_mm else LINE_PT
    words = rows((f"row {n}", "a sentence of more than a few words " * (n % 7)) for n in range(120))
    long = Table("long", ("row", "words"), words, "Long", footnotes=("a footnote " * 40,), repeated=1)
    narrow = replace(long, columns=("row",), rows=rows((f"{n}",) for n in range(120)))
    tables += latex_of([long, narrow], line).split("\n\n")
    width = f"{width_mm}mm" if width_mm else "345pt"
    (tmp_path / "all.tex").write_text(DOCUMENT.format(width=width, tables="\n\\clearpage\n".join(tables)))
    argv = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    log = (tmp_path / "all.log").read_text(errors="replace")
    assert re.findall(r"Overfull \\hbox.*|Float too large.*", log) == []
