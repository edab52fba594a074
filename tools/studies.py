"""Write a page for each study, with the figures and tables that its commands give: `make studies`.

The campaigns are in the folder that the first argument names; one that is missing is measured or simulated there.
Further arguments choose studies. Each table, figure and conclusion is what a command printed.
"""

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from timpani.study.shipped import shipped_studies
from timpani.study.study import Study

PAGES = Path(__file__).parents[1] / "docs" / "studies"
_MAX_SVG_BYTES = 100_000
_MAX_FIGURES = 8
_SHUFFLED = "shuffled"
_TIMPANI = [str(Path(sys.executable).with_name("timpani"))]


@dataclass(frozen=True)
class StudyPage:
    """What a page is made from.

    study      the shipped study
    campaign   the folder of its campaign
    options    of `timpani run`
    author     whose conclusions are checked
    published  the author's table of times; empty where none was published
    tables     the options of `timpani show` that print its tables
    fit        the options of `timpani fit`, where the study fitted a model
    shuffled   the options of `timpani run` that measure host files with shuffled groups, in the campaign `shuffled`
    """

    study: str
    campaign: str
    options: str
    author: str
    published: str = ""
    tables: str = "--layout ranks"
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


STUDY_PAGES = (
    StudyPage(
        "bcast-scatter-algorithms", "as-behrooz", "--on simgrid:two-nodes-of-128", "behrooz", "behrooz_bcast_scatter"
    ),
    StudyPage(
        "bcast-scatter-full-nodes", "as-malasi", "--on simgrid:two-nodes-of-24", "malasi", "malasi_bcast_scatter"
    ),
    StudyPage(
        "bcast-reduce-mapping",
        "as-della-siega",
        "--on simgrid:two-nodes-of-24",
        "della_siega",
        tables="--layout ranks --ranks 2,24,48",
        fit="--published della_siega",
    ),
    StudyPage(
        "hierarchical-collectives",
        "hierarchical",
        "--on simgrid:four-groups-of-4",
        "assignment2",
        tables="--layout algorithms --ranks 16 --operations bcast,gather,reduce,alltoallv",
        shuffled="--on simgrid:four-groups-of-4 --placement category:1:2,category:1:2:7,category:1:2:11",
    ),
    StudyPage(
        "pingpong-and-transpose",
        "messages",
        "--launches 9 --budget 100s",
        "holt_osu_latency",
        tables="--layout algorithms",
    ),
)


def timpani(command: str, campaigns: Path) -> str:
    """What the command prints, run in the folder of the campaigns; CalledProcessError where it fails."""
    words = shlex.split(command)
    done = subprocess.run([*_TIMPANI, *words[1:]], cwd=campaigns, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def write_page(page: StudyPage, campaigns: Path, pages: Path = PAGES) -> Path:
    """Write the page of a study whose campaign is in `campaigns`, and its figures; returns the page's path."""
    study = next(each.study for each in shipped_studies() if each.name == page.study)
    if page.published and not (campaigns / page.published).exists():
        timpani(f"timpani import --published {page.published} -o {page.published}", campaigns)
    path, figures = pages / f"{page.study}.md", pages / "figures" / page.study
    with tempfile.TemporaryDirectory() as folder:
        drawn = list(_figures(page, campaigns, Path(folder)))
        text = "\n".join(_lines(page, study, campaigns, drawn))
        shutil.rmtree(figures, ignore_errors=True)  # only now that nothing else can fail
        shutil.copytree(folder, figures)
    path.write_text(text)
    return path


def _lines(page: StudyPage, study: Study, campaigns: Path, drawn: list[str]) -> Iterator[str]:
    yield from ("<!-- Written by `make studies`: change tools/studies.py instead. -->", "")
    yield from (f"# {study.title}", "", study.question, "", "## Commands", "")
    yield from ("<!-- not run: measures the whole study; the tests run its parts -->", "```console", f"$ {page.run}")
    yield f"$ timpani show {page.campaign} {page.tables}"
    yield f"$ timpani report {page.campaign}{page.statistic} --figures figures"
    yield from ([f"$ timpani fit {page.campaign} {page.fit}"] if page.fit else [])
    yield from (f"$ timpani compare {page.campaign} --published {page.author}", "```", "")
    yield from ("## What agrees, and each conclusion with its verdict", "", "```text")
    yield from (timpani(f"timpani compare {page.campaign} --published {page.author}", campaigns).rstrip(), "```", "")
    if page.shuffled:
        yield from _shuffled_lines(page, campaigns)
    yield from ("## Figures", "")
    yield from ("The times are OSU's averages, as published." if page.published else "The times are completions.", "")
    yield from ("These are some of the figures: the command draws all.", "")
    yield from drawn
    if page.fit:
        fit = timpani(f"timpani fit {page.campaign} {page.fit}", campaigns)
        yield from ("## Fitted models", "", "```text", _regressions(fit), "```", "")
    yield from ("## Tables", "", *_tables(page, campaigns))


def _shuffled_lines(page: StudyPage, campaigns: Path) -> Iterator[str]:
    """What the campaign on host files with shuffled groups shows, with its conclusion."""
    compare = f"timpani compare {_SHUFFLED} --published {page.author}"
    found = timpani(compare, campaigns).splitlines()
    first = next(place for place, line in enumerate(found) if line.startswith("- ") and "shuffling" in line)
    last = next((place for place in range(first + 1, len(found)) if not found[place].startswith(" ")), len(found))
    yield from ("## Shuffled groups", "")
    yield from ("<!-- not run: measures the whole study -->", "```console", f"$ {page.run_shuffled}")
    yield from (f"$ {compare}", "```", "", "```text", *found[first:last], "```", "")


def _regressions(fit: str) -> str:
    """The regressions that have a published one next to them, with it and its footnotes."""
    blocks = fit.rstrip().split("\n\n")
    return "\n\n".join(block for block in blocks if "ublished" in block)


def _figures(page: StudyPage, campaigns: Path, folder: Path) -> Iterator[str]:
    """Copy a figure of each family and operation, the published one too; yields Markdown that shows them."""
    with tempfile.TemporaryDirectory() as drawn:
        side = "simulated" if "simgrid:" in page.options else "measured"
        sides = {side: _draw(f"{page.campaign}{page.statistic}", Path(drawn) / side, campaigns)}
        if page.published:
            everything = _draw(f"{page.published} --all-figures", Path(drawn) / "published", campaigns)
            sides["published"] = everything
        for name in _chosen(sides[side]):
            pairs = {side: paths[name] for side, paths in sides.items() if name in paths}
            shown = {}
            for side, path in pairs.items():
                if path.stat().st_size > _MAX_SVG_BYTES:
                    continue
                copied = folder / f"{side}-{name.replace('/', '-')}"
                shutil.copy(path, copied)
                shown[side] = f"![{_caption(name)} {side}](figures/{page.study}/{copied.name})"
            if shown:
                yield from (_caption(name), "")
                yield from (f"| {' | '.join(shown)} |", f"|{'|'.join('---' for _ in shown)}|")
                yield from (f"| {' | '.join(shown.values())} |", "")


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
    parts = re.split(r"^### (.+)$", markdown, flags=re.MULTILINE)[1:]
    return {caption: table.strip() for caption, table in zip(parts[::2], parts[1::2], strict=True)}


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
