"""The figure and the tables of a profile as files for a paper."""

from dataclasses import replace
from pathlib import Path

from timpani.programs.pages.call_times import CONCURRENT_MEANING, LATE_MEANING, LONGEST_MEANING
from timpani.programs.pages.profile_page import TITLES, longest_calls, page_title, profile_tables
from timpani.programs.profile_folder import ProgramProfile
from timpani.programs.savings import Savings
from timpani.report.figures.program_time import program_time
from timpani.report.figures.theme import LIGHT
from timpani.report.page.table_files import in_each_format
from timpani.report.words.drawn_figures import FIGURE_FORMATS, FigureStyle, figure_bytes, figure_svg
from timpani.report.words.output_files import write_files

_FIGURE = "program-time"
_SECONDS = "Seconds are means over all ranks."
_NOTES = {
    "late": LATE_MEANING,
    "longest": LONGEST_MEANING,
    "concurrent": CONCURRENT_MEANING,
}
"""What the columns of these tables mean, instead of `_SECONDS`."""


def write_profile_files(
    profile: ProgramProfile, savings: Savings | None, folder: Path, force: bool, style: FigureStyle
) -> list[Path]:
    """Write the figure and the tables of the page of a profile; over existing files only with `force`."""
    part = profile.main_part
    found: dict[Path, bytes] = {}
    rows = longest_calls(part)
    if not rows.is_empty():
        drawn = figure_svg(program_time(rows, LIGHT), page_title(part), style)
        found |= {Path(f"{_FIGURE}.{format}"): figure_bytes(drawn, format) for format in FIGURE_FORMATS}
    for name, table in profile_tables(part, savings).items():
        if table is not None:
            caption = f"{TITLES[name]}: {' : '.join(part.programs)}"
            note = _NOTES.get(name, _SECONDS)
            found |= in_each_format(Path(name), [replace(table, caption=caption, footnotes=(note,))])
    write_files(found, folder, force)
    return list(found)
