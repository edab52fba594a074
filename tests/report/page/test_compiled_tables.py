"""LaTeX compiles the tables of a report within their lines."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from timpani.campaign.folder.load import Campaign
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
def test_no_table_is_wider_than_its_line(campaign: Campaign, width_mm: float | None, tmp_path: Path) -> None:
    files = {path: text.decode() for path, text in table_files(Report(campaign), width_mm).items()}
    tables = [text for path, text in files.items() if path.suffix == ".tex"]
    assert len(tables) >= 4
    width = f"{width_mm}mm" if width_mm else "345pt"
    (tmp_path / "all.tex").write_text(DOCUMENT.format(width=width, tables="\n\\clearpage\n".join(tables)))
    argv = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert re.findall(r"Overfull \\hbox.*", (tmp_path / "all.log").read_text(errors="replace")) == []
