"""Options that several commands have, and how a group of them reaches a command as one object."""

import inspect
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, make_dataclass, replace
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from timpani.campaign.folder.load import Campaign as LoadedCampaign
from timpani.cli.terminal.completing import complete_algorithms, complete_campaign, complete_profile
from timpani.errors import UserError
from timpani.machine.detect import HERE
from timpani.machine.launchers import LAB
from timpani.report.document.blocks import Document, DrawnFigure
from timpani.report.document.formats import FORMATS, render
from timpani.slices import Hook
from timpani.stats.compare import STANDARD
from timpani.study.keys import KEYS, WHERE, Option
from timpani.study.study import Study
from timpani.study.trust import trust
from timpani.study.values import parse_share
from timpani.study.words import per_cent

Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that exists.")]


def output_option(help: str, shown: str = "", panel: str | None = None) -> Any:
    """The option `-o` of a command; help shows the default as `shown`."""
    return typer.Option("--output", "-o", help=help, show_default=shown or False, rich_help_panel=panel)


def on_option(shown: str, panel: str | None = None) -> Any:
    """The option `--on` of a command that measures."""
    return typer.Option(
        metavar="WHERE",
        help="A machine file, here, lab, or slurm:PARTITION,nodes=2,time=1:00:00: a job (`timpani script --help`).",
        show_default=shown,
        rich_help_panel=panel,
    )


def campaign_argument(help: str, metavar: str | None = None) -> Any:
    """The argument of a command for a campaign; `Campaign` is that of commands that read the newest without one."""
    return typer.Argument(metavar=metavar, help=help, autocompletion=complete_campaign)


DryRun = Annotated[bool, typer.Option("--dry-run", help="Print cells, launches, time and commands; stop.")]
"""Of commands that measure: nothing is measured; of a job its script is printed."""


FailOn = Annotated[
    str | None,
    typer.Option(
        metavar="CHANGE",
        help="End with status 1 if a significant change is at least this large: slower:5%, faster:10%; `slower` for "
        "any.",
    ),
]
"""The limit of commands that compare, for automation; `ChangeLimit.parse` reads it."""


Campaign = Annotated[
    Path | None,
    typer.Argument(
        help="The campaign's folder.",
        show_default="the newest campaign in the current folder",
        autocompletion=complete_campaign,
    ),
]
"""The argument of commands that read one campaign; `campaign_or_newest` makes a folder of it."""


Statistic = Annotated[
    Literal["completion", "osu"] | None,
    typer.Option(
        help="The time of a call. completion: its median completion. osu: what OSU's benchmarks print, an average "
        "over ranks.",
        show_default="completion",
    ),
]
"""Which time a command that reads campaigns shows."""


For = Annotated[
    Path | None,
    typer.Option(
        "--for",
        metavar="PROFILE",
        help="What `timpani profile` wrote: measure what that program calls.",
        autocompletion=complete_profile,
    ),
]
"""The option of commands that measure for a program."""

PROGRAM_STUDY: Hook[Callable[[Path, Mapping[str, object], Sequence[Path]], Study]] = Hook("PROGRAM_STUDY")
"""The study of what the program of a profile calls, given options, without what campaigns measured already."""

_PROGRAM_LIBRARY: Hook[Callable[[Path], str | None]] = Hook("PROGRAM_LIBRARY")


def library_of_program(profile: Path | None, on: str | None) -> str | None:
    """The library here that the program of `profile` ran with; None where the place `on` brings its own."""
    here = on is None or on == HERE or on.partition(":")[0] == LAB
    return _PROGRAM_LIBRARY.only("--for")(profile) if profile and here else None


def _share(text: str) -> float:
    share = parse_share(text)
    if not isinstance(share, float) or not 0 < share < 1:
        raise typer.BadParameter(f"{text!r} is no share between 0 and 1: write for example 3%.")
    return share


def _margin(help: str, standard: float) -> Any:
    return typer.Option(metavar="SHARE", parser=_share, help=help, show_default=per_cent(standard))


@dataclass(frozen=True)
class GivenMargins:
    """By which margins a verdict judges, as typed."""

    indifference: Annotated[
        float | None,
        _margin("Smallest difference of two times that counts, such as 1%.", STANDARD.indifference),
    ] = None
    equivalence: Annotated[
        float | None,
        _margin("The most that a fine default takes longer than the fastest, such as 10%.", STANDARD.equivalence),
    ] = None

    def judged(self, campaign: LoadedCampaign) -> LoadedCampaign:
        """The campaign as verdicts judge it by these margins."""
        given = {name: value for name, value in asdict(self).items() if value is not None}
        margins = replace(STANDARD, **given)
        if margins.indifference > margins.equivalence:
            between = f"between {per_cent(margins.equivalence)} and {per_cent(margins.indifference)}"
            raise UserError(
                f"defaults {between} slower than the fastest would be neither fine nor slower",
                "choose an --equivalence of at least --indifference",
            )
        return replace(campaign, margins=margins)


class Format(StrEnum):
    """How a command prints its result; each command supports some."""

    text = "text"
    markdown = "markdown"
    html = "html"
    osu = "osu"
    latex = "latex"
    csv = "csv"
    json = "json"
    junit = "junit"
    parquet = "parquet"


_WIDEST_METAVAR = 24  # in 80 columns help breaks longer ones inside a word


def format_option(help: str, *formats: Format) -> Any:
    """The option `--format` of a command; without `formats`, text or JSON."""
    choices = formats or (Format.text, Format.json)

    def parse(text: str) -> Format:
        if text not in choices:
            raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, map(str, choices)))}.")
        return Format(text)

    listed = f"[{'|'.join(choices)}]"
    if len(listed) > _WIDEST_METAVAR:
        listed, help = "FORMAT", f"{', '.join(choices[:-1])} or {choices[-1]}. {help}"
    return typer.Option(help=help, parser=parse, metavar=listed)


def trusted_files(files: list[Path] | None) -> list[Path] | None:
    """Remember that the user trusts `files`, before anything reads them."""
    for file in files or ():
        trust(file)
    return files


Trust = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="FILE",
        help="Let this study file, machine file or table run the programs that it names, now and until it changes.",
        show_default="none",
        callback=trusted_files,
        rich_help_panel=WHERE,
    ),
]


DOCUMENT_FORMATS = (Format.text, Format.markdown, Format.html, Format.latex, Format.csv, Format.json)
"""The formats in which every command prints a document."""


def document_format(help: str = "", *others: Format) -> Any:
    """The option `--format` of a command that prints a document, and in `others` perhaps more."""
    return format_option(help, *DOCUMENT_FORMATS, *others)


def document_text(document: Document, format: Format, width_mm: float | None = None) -> str:
    """A document in one of DOCUMENT_FORMATS, as wide as the terminal; elsewhere 120 characters.

    LaTeX is without its figures, which would be files.

    width_mm  of a line in LaTeX; None: that of the class `article`
    """
    (name,) = (each for each in FORMATS if each == format.value)
    if name == "latex":
        document = replace(
            document, blocks=tuple(each for each in document.blocks if not isinstance(each, DrawnFigure))
        )
    return render(document, name, shutil.get_terminal_size().columns if sys.stdout.isatty() else 120, width_mm)


@dataclass(frozen=True)
class WhereOptions:
    """Where to measure, as typed."""

    on: Annotated[str | None, on_option("this computer", WHERE)] = None
    oversubscribe: Annotated[
        bool, typer.Option("--oversubscribe", help="Allow more ranks than cores.", rich_help_panel=WHERE)
    ] = False
    trust: Trust = None


@dataclass(frozen=True)
class StudyOptions:
    """Values of study keys, as typed; `study_options` makes a class that has a field for each key's option."""

    def given(self) -> dict[str, Any]:
        """What `compose` takes: the options that were typed, by the names of their parameters."""
        values: dict[str, Any] = {}
        for each in fields(self):
            value, switch = getattr(self, each.name), each.metadata["switch"]
            if switch is not None:
                value = switch if value else None
            elif isinstance(value, list):
                value = value or None
            if value is not None:
                values[each.name] = str(value.resolve()) if isinstance(value, Path) else value
        return values


def study_options(
    parameters: tuple[str, ...] = (), panel: str = "", shown: Mapping[str, str] | None = None
) -> type[StudyOptions]:
    """The options of study keys that have one, or of `parameters` alone.

    `panel` takes the place of the keys' own panels in the help, `shown` that of some options' defaults.
    """
    rows = {row.option.parameter or name: row.option for name, row in KEYS.items() if row.option}
    chosen = [_field(name, rows[name], panel, (shown or {}).get(name, "")) for name in parameters or rows]
    return make_dataclass("StudyOptionsGiven", chosen, bases=(StudyOptions,), frozen=True)


def _field(name: str, option: Option, panel: str, shown: str) -> tuple[str, Any, Any]:
    flags = option.flags or (f"--{name.replace('_', '-')}",)
    settings = typer.Option(
        *flags,
        help=option.help,
        show_default=shown or option.shown or False,
        rich_help_panel=panel or option.panel,
        autocompletion=complete_algorithms if name == "algorithms" else None,
    )
    if option.switch is not None:
        return name, Annotated[bool, settings], field(default=False, metadata={"switch": option.switch})
    kind = list[str] if option.type is list else option.type
    return name, Annotated[kind | None, settings], field(default=None, metadata={"switch": None})


def expand(**groups: type[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command's parameter named in `groups` becomes one option for each field of that dataclass.

    typer builds options from a function's signature: the wrapper's lists the fields in the parameter's place, and the
    command gets one frozen object of them.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        parameters = [
            parameter
            for given in signature.parameters.values()
            for parameter in (_parameters(groups[given.name]) if given.name in groups else [given])
        ]

        @wraps(command)
        def expanded(**values: Any) -> None:
            objects = {
                name: group(**{each.name: values.pop(each.name) for each in fields(group)})
                for name, group in groups.items()
            }
            command(**values, **objects)

        ordered = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
        expanded.__signature__ = signature.replace(parameters=ordered)  # type: ignore[attr-defined]
        expanded.__annotations__ = {each.name: each.annotation for each in ordered}
        return expanded

    return decorate


def _parameters(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name])
        for each in fields(group)
    ]
