"""One command for several kinds of folders: each kind has a form of the command, with the options that it takes."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, dataclass, field, fields, make_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.models import ArgumentInfo

from timpani.cli.terminal.options import Format, document_format
from timpani.errors import UserError
from timpani.report.document.output_files import write_file


@dataclass(frozen=True)
class Form:
    """What a command does with one kind of folder.

    kind     in words: `a profile`
    applies  whether the folder is of that kind, given all that was typed
    options  dataclasses of the options that the form takes; several forms may have the same option
    run      the work, given the folder and an object of each dataclass
    """

    kind: str
    applies: Callable[[Path, Any], bool]
    options: tuple[type[Any], ...]
    run: Callable[..., None]

    @property
    def fields(self) -> Iterable[Field[Any]]:
        """All options of the form."""
        return (each for group in self.options for each in fields(group))


def options_of(forms: Sequence[Form]) -> type[Any]:
    """A dataclass of the options of all forms, for `expand`."""
    hints = {name: hint for form in forms for group in form.options for name, hint in _hints(group).items()}
    found = {each.name: each for form in reversed(forms) for each in form.fields}
    order = dict.fromkeys(each.name for form in forms for each in form.fields)
    return make_dataclass(
        "FormOptions",
        [(name, hints[name], field(default=found[name].default, metadata=found[name].metadata)) for name in order],
        frozen=True,
    )


def run_form(forms: Sequence[Form], folder: Path, typed: Any) -> None:
    """Run the first form that applies; UserError for an option that it does not take."""
    form = next(each for each in forms if each.applies(folder, typed))
    taken = {each.name for each in form.fields}
    hints = _hints(type(typed))
    for each in fields(typed):
        if each.name not in taken and getattr(typed, each.name) != each.default:
            raise UserError(f"{_label(each.name, hints[each.name])} is not for {form.kind}", "leave it out")
    form.run(
        folder, *(group(**{each.name: getattr(typed, each.name) for each in fields(group)}) for group in form.options)
    )


def _hints(group: type[Any]) -> dict[str, Any]:
    return get_type_hints(group, include_extras=True)


def _label(name: str, hint: Any) -> str:
    """An argument's or option's name as help shows it."""
    [setting] = hint.__metadata__
    return setting.metavar or name.upper() if isinstance(setting, ArgumentInfo) else f"--{name.replace('_', '-')}"


ShownFormat = Annotated[
    Format,
    document_format(
        "latex is for the packages booktabs and array; csv, json and parquet have the columns of docs/reference.md.",
        Format.osu,
        Format.parquet,
    ),
]
ShownOutput = Annotated[Path | None, typer.Option("--output", "-o", help="Write into this file.")]


def print_or_write(content: bytes, output: Path | None, force: bool) -> None:
    """Print what is shown, or write it into the file that was typed."""
    if output is None:
        sys.stdout.buffer.write(content)
    else:
        write_file(output, content, force)
