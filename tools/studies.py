"""Write two pages for each study: `make studies`. Each table, figure and conclusion is what a command printed.

docs/studies has a page with the verdicts and two figures; the full page, with all tables, is next to the campaigns, and
`make site` adds it. The campaigns are in the folder that the first argument names; one that is missing is measured or
simulated there. Further arguments choose studies.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timpani.study.compose import shipped_studies
from timpani.study.study import Study

PAGES = Path(__file__).parents[1] / "docs" / "studies"
FULL = "pages"
"""The folder of the full pages, next to the campaigns."""

_ALL = "All tables and figures: `make studies`, then `make site`."
"""The last line of a short page; on the site it is a link to the full one."""

_UNTESTED = "not testable"
_MAX_SVG_BYTES = 100_000
_MAX_FIGURES = 8
_SHUFFLED = "shuffled"
_TIMPANI = [str(Path(sys.executable).with_name("timpani"))]


@dataclass(frozen=True)
class StudyPage:
    """A row of studies.toml, which explains the fields."""

    study: str
    campaign: str
    options: str
    author: str
    source: str
    figures: tuple[str, ...]
    items: dict[str, str]
    tables: str
    published: str = ""
    fit: str = ""
    shuffled: str = ""

    @property
    def run(self) -> str:
        """The command that measures it."""
        return f"timpani run {self.study} {self.options} -o {self.campaign}".replace("  ", " ")

    @property
    def run_shuffled(self) -> str:
        """The command that measures host files with shuffled groups."""
        return f"timpani run {self.study} {self.shuffled} -o {_SHUFFLED}"

    @property
    def statistic(self) -> str:
        """The option for times like the published ones."""
        return " --statistic osu" if self.published else ""


STUDY_PAGES = tuple(
    StudyPage(study, **row) for study, row in tomllib.loads(Path(__file__).with_suffix(".toml").read_text()).items()
)


Drawn = Mapping[str, Mapping[str, Path]]
"""By a figure's name the files that show it: published, and measured or simulated."""


def timpani(command: str, campaigns: Path) -> str:
    """What the command prints, run in the folder of the campaigns; CalledProcessError where it fails."""
    words = shlex.split(command)
    done = subprocess.run([*_TIMPANI, *words[1:]], cwd=campaigns, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def write_page(page: StudyPage, campaigns: Path, pages: Path = PAGES) -> Path:
    """Write both pages of a study, whose campaign is in `campaigns`, and their figures; the short page's path."""
    study = next(each.study for each in shipped_studies() if each.name == page.study)
    if page.published and not (campaigns / page.published).exists():
        timpani(f"timpani import --published {page.published} -o {page.published}", campaigns)
    full = campaigns / FULL
    with tempfile.TemporaryDirectory() as folder:
        drawn = _figures(page, campaigns, Path(folder))
        shown = {name: sides for name, sides in drawn.items() if name in page.figures}
        long, short = _full_lines(page, study, campaigns, drawn), _short_lines(page, study, campaigns, shown)
        texts = "\n".join(long), "\n".join(short)
        _replace(full / "figures" / page.study, drawn)  # only now that nothing else can fail
        _replace(pages / "figures" / page.study, shown)
    (full / f"{page.study}.md").write_text(texts[0])
    path = pages / f"{page.study}.md"
    path.write_text(texts[1])
    return path


def copy_full_pages(campaigns: Path, studies: Path) -> list[str]:
    """Copy full pages next to `campaigns`, if there are any, into the site's folder of studies; their names there."""
    names = []
    for page in sorted((campaigns / FULL).glob("*.md")):
        full = studies / f"{page.stem}-full.md"
        shutil.copy(page, full)
        short = studies / page.name
        short.write_text(short.read_text().replace(_ALL, f"[All tables and figures]({full.name})."))
        shutil.copytree(page.parent / "figures" / page.stem, studies / "figures" / page.stem, dirs_exist_ok=True)
        names.append(f"docs/studies/{page.stem}-full.md")
    return names


def _replace(folder: Path, drawn: Drawn) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in (path for sides in drawn.values() for path in sides.values()):
        shutil.copy(path, folder)


def _head(page: StudyPage, study: Study) -> Iterator[str]:
    yield from ("<!-- Written by `make studies`: change tools/studies.py instead. -->", "")
    yield from (f"# {study.title}", "", study.question, "", f"{page.source}.", "", "## Commands", "")
    yield from ("<!-- not run: measures the whole study; the tests run its parts -->", "```console", f"$ {page.run}")
    yield f"$ timpani show {page.campaign} {page.tables}"
    yield f"$ timpani report {page.campaign}{page.statistic} --figures figures"
    yield from ([f"$ timpani fit {page.campaign} {page.fit}"] if page.fit else [])
    yield from (f"$ timpani compare {page.campaign} --published {page.author}", "```", "")


def _short_lines(page: StudyPage, study: Study, campaigns: Path, shown: Drawn) -> Iterator[str]:
    """The page in Git: commands, verdicts, and a few figures."""
    yield from _head(page, study)
    yield from ("| to get | command |", "|---|---|")
    shuffled = {"shuffled groups": page.run_shuffled} if page.shuffled else {}
    yield from (f"| {what} | `{command}` |" for what, command in {**page.items, **shuffled}.items())
    compared = _compared(page, page.campaign, campaigns)
    yield from ("", "## Conclusions", "", f"| conclusion | published | {_side(page)} |", "|---|---|---|")
    other = _compared(page, _SHUFFLED, campaigns) if page.shuffled else compared
    pairs = zip(_conclusions(compared), _conclusions(other), strict=True)
    yield from (f"| {' | '.join(row if row[2] != _UNTESTED else second)} |" for row, second in pairs)
    agreeing = [compared["agreeing"]["text"]] if "agreeing" in compared else []
    yield from ("", *compared["conclusions"]["notes"], *agreeing, "", "## Figures", "")
    yield from _gallery(page, shown)
    yield from (_ALL, "")


def _compared(page: StudyPage, campaign: str, campaigns: Path) -> Any:
    return json.loads(timpani(f"timpani compare {campaign} --published {page.author} --format json", campaigns))


def _conclusions(compared: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Each conclusion with the verdict on what was published, and on the campaign."""
    for row in compared["conclusions"]["rows"]:
        yield row["conclusion"], row.get("published", _UNTESTED), row.get("here", _UNTESTED)


def _full_lines(page: StudyPage, study: Study, campaigns: Path, drawn: Drawn) -> Iterator[str]:
    """The page of the site, with all tables."""
    yield from _head(page, study)
    yield from ("## What agrees, and each conclusion with its verdict", "", "```text")
    yield from (timpani(f"timpani compare {page.campaign} --published {page.author}", campaigns).rstrip(), "```", "")
    if page.shuffled:
        yield from _shuffled_lines(page, campaigns)
    yield from ("## Figures", "")
    yield from ("The times are OSU's averages, as published." if page.published else "The times are completions.", "")
    yield from ("These are some of the figures: the command draws all.", "")
    yield from _gallery(page, drawn)
    if page.fit:
        fit = timpani(f"timpani fit {page.campaign} {page.fit}", campaigns)
        yield from ("## Fitted models", "", "```text", _regressions(fit), "```", "")
    yield from ("## Tables", "", *_tables(page, campaigns))


def _shuffled_lines(page: StudyPage, campaigns: Path) -> Iterator[str]:
    """What the campaign on host files with shuffled groups shows, with its conclusion."""
    compare = f"timpani compare {_SHUFFLED} --published {page.author}"
    found = timpani(compare, campaigns).splitlines()
    first = next(place for place, line in enumerate(found) if line.startswith("  ") and "shuffling" in line)
    last = next((place for place in range(first + 1, len(found)) if not found[place].startswith("    ")), len(found))
    yield from ("## Shuffled groups", "")
    yield from ("<!-- not run: measures the whole study -->", "```console", f"$ {page.run_shuffled}")
    yield from (f"$ {compare}", "```", "", "```text", *found[first:last], "```", "")


def _regressions(fit: str) -> str:
    """The regressions that have a published one next to them, with it and its footnotes."""
    blocks = fit.rstrip().split("\n\n")
    return "\n\n".join(block for block in blocks if "ublished" in block)


def _side(page: StudyPage) -> str:
    return "simulated" if "simgrid:" in page.options else "measured"


def _figures(page: StudyPage, campaigns: Path, folder: Path) -> Drawn:
    """Copy a figure of each family and operation into `folder`, the published one too."""
    with tempfile.TemporaryDirectory() as drawn:
        sides = {_side(page): _draw(f"{page.campaign}{page.statistic}", Path(drawn) / "here", campaigns)}
        if page.published:
            sides["published"] = _draw(f"{page.published} --all-figures", Path(drawn) / "published", campaigns)
        return {
            name: {
                side: Path(shutil.copy(paths[name], folder / f"{side}-{name.replace('/', '-')}"))
                for side, paths in sides.items()
                if name in paths and paths[name].stat().st_size <= _MAX_SVG_BYTES
            }
            for name in (*_chosen(sides[_side(page)]), *page.figures)
            if name in sides[_side(page)]
        }


def _gallery(page: StudyPage, drawn: Drawn) -> Iterator[str]:
    for name, sides in drawn.items():
        images = [f"![{side}](figures/{page.study}/{path.name})" for side, path in sides.items()]
        yield from (f"{_caption(name)[:-1]}, {' and '.join(sides)}:", "", *images, "") if images else ()


def _draw(report: str, folder: Path, campaigns: Path) -> dict[str, Path]:
    """The SVG files of a report's figures, by their names."""
    timpani(f"timpani report {report} --no-title --figures {shlex.quote(str(folder))}", campaigns)
    return {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*.svg"))}


def _caption(name: str) -> str:
    """`latency-against-size/bcast-48-ranks.svg` as a sentence."""
    family, _, figure = name.removesuffix(".svg").partition("/")
    return f"{figure.replace('-', ' ').capitalize()}: {family.replace('-', ' ')}."


def _chosen(paths: dict[str, Path]) -> list[str]:
    """All figures where they are few, else the last of each family and operation: that of the largest number."""
    small = [name for name, path in paths.items() if path.stat().st_size <= _MAX_SVG_BYTES]
    if len(small) <= _MAX_FIGURES:
        return small
    number = re.compile(r"\d+")
    found: dict[tuple[str, str], str] = {}
    for name in sorted(small, key=lambda name: [int(digits) for digits in number.findall(name)]):
        family, _, figure = name.partition("/")
        found[family, figure.partition("-")[0].removesuffix(".svg")] = name
    return list(found.values())


def _tables(page: StudyPage, campaigns: Path) -> Iterator[str]:
    """Each table, with the published one of the same caption under it."""
    here = _by_caption(timpani(f"timpani show {page.campaign} {page.tables} --format markdown", campaigns))
    there = {}
    if page.published:
        there = _by_caption(timpani(f"timpani show {page.published} {page.tables} --format markdown", campaigns))
    for caption, table in here.items():
        yield from ("<details>", f"<summary>{caption}</summary>", "", table, "")
        if caption in there:
            yield from ("Published:", "", there[caption], "")
        yield from ("</details>", "")


def _by_caption(markdown: str) -> dict[str, str]:
    """The tables below their captions, which several may share."""
    parts = re.split(r"^### (.+)$", markdown, flags=re.MULTILINE)[1:]
    found: dict[str, str] = {}
    for caption, table in zip(parts[::2], parts[1::2], strict=True):
        found[caption] = "\n\n".join([*filter(None, [found.get(caption)]), table.strip()])
    return found


def main(arguments: list[str]) -> int:
    """Measure what is missing, and write the pages; a failed command ends this with its status."""
    try:
        _measure_and_write(arguments)
    except subprocess.CalledProcessError as failed:
        return failed.returncode
    return 0


def _measure_and_write(arguments: list[str]) -> None:
    campaigns = Path(arguments[0]) if arguments else Path("build/studies")
    campaigns.mkdir(parents=True, exist_ok=True)
    for page in STUDY_PAGES:
        if arguments[1:] and page.study not in arguments[1:]:
            continue
        if not (campaigns / page.campaign).exists():
            timpani(page.run, campaigns)
        if page.shuffled and not (campaigns / _SHUFFLED).exists():
            timpani(page.run_shuffled, campaigns)
        print(write_page(page, campaigns))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
