"""Pages for `man`, from what the commands' help says."""

from collections.abc import Sequence

from timpani import __version__
from timpani.cli.manual.command_tree import CommandHelp, ParameterHelp


def man_pages(commands: Sequence[CommandHelp], summary: str) -> dict[str, str]:
    """By file name the page of each command, `timpani-lab-up.1`, and `timpani.1`, which lists them."""
    pages = {f"{_title(each.name)}.1": _page(each) for each in commands}
    return {"timpani.1": _overview(commands, summary), **pages}


def _overview(commands: Sequence[CommandHelp], summary: str) -> str:
    listed = (line for each in commands for line in (".TP", f".BR {_title(each.name)} (1)", _text(each.summary)))
    usage = r"\fBtimpani\fR \fICOMMAND\fR [\fIOPTIONS\fR]"
    return _lines(*_head("timpani", summary, usage), ".SH COMMANDS", *listed)


def _page(command: CommandHelp) -> str:
    arguments = [each for each in command.parameters if each.is_argument]
    options = [each for each in command.parameters if not each.is_argument]
    described = [line for each in command.paragraphs for line in (".PP", _text(each))]
    examples = [line for each in command.examples for line in (".PP", ".EX", _text(each), ".EE")]
    return _lines(
        *_head(_title(command.name), command.summary, _text(command.usage)),
        *_section("DESCRIPTION", described),
        *_section("ARGUMENTS", [line for each in arguments for line in _described(each)]),
        *_section("OPTIONS", [line for each in options for line in _described(each)]),
        *_section("EXAMPLES", examples),
        ".SH SEE ALSO",
        ".BR timpani (1)",
    )


def _title(name: str) -> str:
    return name.replace(" ", "-")


def _head(title: str, summary: str, usage: str) -> list[str]:
    return [
        f'.TH "{title.upper()}" 1 "" "timpani {__version__}"',
        ".SH NAME",
        f"{title} \\- {_text(summary)}",
        ".SH SYNOPSIS",
        usage,
    ]


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [f".SH {title}", *lines] if lines else []


def _described(parameter: ParameterHelp) -> list[str]:
    names = ", ".join(rf"\fB{_text(each)}\fR" for each in parameter.names)
    value = rf" \fI{_text(parameter.value)}\fR" if parameter.value else ""
    default = "" if not parameter.default else f" [{parameter.default}]"
    return [".TP", names + value, _text(parameter.help + default)]


def _text(text: str) -> str:
    """Text that roff prints as it is: no backslash, hyphen, dot or quote at its beginning means anything."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _lines(*lines: str) -> str:
    return "".join(f"{line}\n" for line in lines)
