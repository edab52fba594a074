"""Hydra, the launcher of MPICH and Intel MPI: its command, and what its configuration file sets."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from timpani.libraries.library import Command, LaunchRequest, OutsideSetting, file_line, host_file, settings_lines
from timpani.native.mpi import Mpi
from timpani.study.cell import ranks_per_node

HOST_WITH_SLOTS = "{}:{}"

_HOSTS = "hosts.txt"
_SETS_VARIABLE = ("genv", "env")


def hydra_command(
    mpi: Mpi,
    request: LaunchRequest,
    where: Sequence[str],
    waiting: Mapping[str, str],
    without_hosts: Sequence[str] = (),
) -> Command:
    """The command of `request`.

    where          words that place the ranks
    waiting        variables that say how ranks are bound and wait; the request's own go before them
    without_hosts  words in place of a host file
    """
    hosts = ("-f", str(request.folder / _HOSTS)) if request.hosts else without_hosts
    environment = {**waiting, **dict(request.parameters), **request.environment}
    exports = [part for item in environment.items() for part in export(*item)]
    return Command(
        argv=(
            *(str(mpi.mpirun), *hosts, "-n", str(request.ranks), *where),
            *(*exports, *request.arguments, *request.program),
        ),
        environment=dict(mpi.environment),
        files={_HOSTS: host_file(request.hosts, HOST_WITH_SLOTS)} if request.hosts else {},
    )


def per_node(placement: str) -> tuple[str, ...]:
    """The words for a placement that fixes the ranks on each node; none for another."""
    count = 1 if placement == "node" else ranks_per_node(placement)
    return ("-ppn", str(count)) if count else ()


def export(name: str, value: str) -> tuple[str, ...]:
    """What hands a variable to all ranks."""
    return "-genv", name, value


def settings_of_file(path: Path, overrides: re.Pattern[str]) -> Iterator[OutsideSetting]:
    """Each option and each variable that `path` sets for all launches; nothing where there is no such file.

    A variable that `overrides` matches chooses algorithms.
    """
    for number, line in settings_lines(path):
        for name, value in _options(_split_words(line)):
            yield OutsideSetting(name, value, file_line(path, number), bool(overrides.fullmatch(name)))


def _split_words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:  # an open quotation mark
        return line.split()


def _options(words: list[str]) -> Iterator[tuple[str, str]]:
    """The names and values of options; of those that set a variable its name and value.

    The launchers (MPICH 4.0.2, Intel MPI 2021.18; observed) take `-genv NAME VALUE`, `--genv NAME=VALUE` and
    `-genv=NAME=VALUE`.
    """
    while words:
        word, *rest = words
        length = next((place for place, each in enumerate(rest) if each.startswith("-")), len(rest))
        option, _, joined = word.partition("=") if word.startswith("-") else (word, "", "")
        values, words = [each for each in (joined, *rest[:length]) if each], rest[length:]
        if option.lstrip("-") in _SETS_VARIABLE and values:
            name, _, value = " ".join(values).replace("=", " ", 1).partition(" ")
            yield name, value
        else:
            yield option, " ".join(values)
