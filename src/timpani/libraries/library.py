"""The interface of every MPI library: how it is recognized, starts ranks, what it offers, what selects, its files."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from timpani.errors import printable
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameters
from timpani.libraries.taken_settings import InstalledSettings
from timpani.libraries.tuning_file import TuningFile
from timpani.native.mpi import Mpi
from timpani.reading import read_bytes
from timpani.study.cell import Algorithm

ENVIRONMENT = "the environment"

_Text = Annotated[str, AfterValidator(printable)]


@dataclass(frozen=True)
class OutsideSetting:
    """One setting.

    source     the file and its line, or ENVIRONMENT
    chooses    whether it changes which algorithm the library runs
    removed    whether Timpani removes it from the environment of its launches
    libraries  names of the libraries that find it, if a campaign starts others too; empty: all find it
    """

    name: _Text
    value: _Text
    source: _Text
    chooses: bool
    removed: bool = False
    libraries: _Text = ""

    @property
    def decides_default(self) -> bool:
        """Whether the measured default is this setting's choice in place of the library's."""
        return self.chooses and not self.removed

    @property
    def concerns(self) -> str:
        """The libraries, before a sentence on the setting; nothing if it concerns all."""
        return f"{self.libraries}: " if self.libraries else ""

    def __str__(self) -> str:
        return f"{self.source} sets {self.name} to {self.value!r}"


def file_line(path: Path, line: int | str | None) -> str:
    """A place in a settings file, with `~` for the home folder."""
    try:
        shown = f"~/{path.relative_to(Path.home())}"
    except (ValueError, RuntimeError):  # RuntimeError: no home folder is known
        shown = str(path)
    return f"{shown} line {line}" if line else shown


def settings_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Each line of a launcher's settings file after its number; nothing where there is no such file.

    UserError where the file can't be read.
    """
    try:
        text = read_bytes(path, "correct it or remove it: the launcher reads it").decode(errors="replace")
    except FileNotFoundError:
        return
    yield from enumerate(text.splitlines(), 1)


def variables(
    environment: Mapping[str, str], wanted: re.Pattern[str], choosing: re.Pattern[str]
) -> Iterator[OutsideSetting]:
    """The `wanted` variables; those that match `choosing` choose algorithms."""
    for name, value in sorted(environment.items()):
        if wanted.fullmatch(name):
            yield OutsideSetting(name, value, ENVIRONMENT, bool(choosing.fullmatch(name)))


@dataclass(frozen=True)
class Host:
    """A node to start ranks on; `slots` is how many ranks it takes before the next node does, None: as it has cores."""

    name: str
    slots: int | None = None


HostList = tuple[Host, ...]


def host_file(hosts: Sequence[Host], with_slots: str) -> str:
    """A line for each host: the launchers know no node sets. `with_slots` is such a line, `{}` for name and slots."""
    return "".join(f"{with_slots.format(host.name, host.slots) if host.slots else host.name}\n" for host in hosts)


@dataclass(frozen=True)
class LaunchRequest:
    """One start of an MPI program.

    placement       as `study/cell.py` has it
    oversubscribed  more ranks than cores: ranks are not bound and give way while they wait
    parameters      of the library, for this start; environment is every rank's
    hosts           where ranks go, with their slots; empty: this computer
    folder          of the launch, where `Command.files` go
    arguments       further words for the launcher, before the program
    platform        the simulated machine's description, and each rank's host there; None: nothing is simulated
    """

    ranks: int
    placement: str
    oversubscribed: bool
    parameters: Parameters
    environment: Mapping[str, str]
    program: tuple[str, ...]
    hosts: HostList = ()
    folder: Path = Path()
    platform: Path | None = None
    simulated_hosts: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True)
class Command:
    """What to run; `environment` is added to the caller's own.

    files  that it reads: name → text, to be written into the launch's folder before
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    files: Mapping[str, str] = field(default_factory=dict)


Controls = tuple[tuple[str, int], ...]
"""MPI_T control variables and their values."""


@dataclass(frozen=True)
class AlgorithmSelection:
    """Parameters and variables that make the library run one algorithm.

    parameters   of the library, for the whole launch
    environment  of the whole launch
    at_creation  MPI_T control variables that hold while the cell's communicator is created: inside one launch
    at_call      … that hold while the collective is called

    Cells whose parameters and environment are equal can share a launch.
    """

    parameters: Parameters = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    at_creation: Controls = ()
    at_call: Controls = ()


@dataclass(frozen=True)
class Counting:
    """Parameters that make a library count the messages that each rank sends to each other.

    at_exit  False: counts are read around a single call, in one launch for all cells. True: the library writes totals
             when the program ends, so that a call's share is what one call more adds: two launches for each cell.
    output   further parameters that make it write totals
    """

    parameters: Parameters
    at_exit: bool
    output: Parameters = ()

    def writing_to(self, prefix: Path) -> Parameters:
        """All parameters with `{prefix}` filled in: totals are written to PREFIX.RANK.prof."""
        output = ((name, value.replace("{prefix}", str(prefix))) for name, value in self.output)
        return (*self.parameters, *output)


@dataclass(frozen=True)
class Identity:
    """How an installation is recognized.

    launcher_says     what the launcher prints with --version
    wrappers          its C++ wrapper compilers' names, and how one reports its library's version
    info              the name of the program that describes the library
    installation      where the whole library comes from, for people
    development       … its compilers and headers, where its launcher is there
    launcher          the program next to the one found that starts ranks; "": that one
    reports           what its MPI_Get_library_version returns; None: its programs are not asked
    environment       what its programs must find in their environment, by the launcher's place
    """

    launcher_says: re.Pattern[str]
    wrappers: tuple[str, ...]
    wrapper_question: str
    wrapper_says: re.Pattern[str]
    info: str
    installation: str
    development: str
    launcher: str = ""
    reports: re.Pattern[str] | None = None
    environment: Callable[[Path], Mapping[str, str]] = lambda launcher: {}


@dataclass(frozen=True)
class Note:
    """A note for users about a library on this machine."""

    subject: str
    what: str


@dataclass(frozen=True)
class OfferedVariants:
    """A group of variants that an installed library offers.

    variants       by name, the settings as `parse_variant` reads them
    left_out       what of the group it doesn't offer, and why
    of_components  whether each is meant to have another component run a collective
    """

    variants: Mapping[str, str]
    left_out: Mapping[str, str]
    of_components: bool = False

    @property
    def texts(self) -> list[str]:
        """Each variant as `--variant` takes it."""
        return [f"{name}: {settings}" for name, settings in self.variants.items()]


@dataclass(frozen=True)
class LibraryLauncher:
    """How a library starts ranks.

    command          the command that starts a launch with its own launcher
    start_seconds    time of starting and ending two ranks, for estimates
    host_with_slots  a line of its host files, `{}` for the name and the slots
    export           the launcher's arguments that pass a variable to all ranks; None: they get its environment
    check_export     UserError if a command or environment of the user keeps the launcher from passing variables so
    parameter        the launcher's arguments that set a parameter of the library; None: it is set by its variable, and
                     the launcher passes its own environment to all ranks
    exports_by_part  whether those hold for one program of `mpirun -n 2 ./a : -n 2 ./b` only
    variable         the environment's variable in which ranks read a parameter of the library
    slurm_interface  by which ranks find each other under srun; None: srun can't start them
    simulates        whether its ranks run on machines that it simulates
    remove_remains   removes what killed ranks left on this computer, by the folder of their launch; returns what
    """

    command: Callable[[Mpi, LaunchRequest], Command]
    start_seconds: float
    host_with_slots: str
    export: Callable[[str, str], tuple[str, ...]] | None = None
    check_export: Callable[[Mpi, Sequence[str], Mapping[str, str]], None] = lambda mpi, command, environment: None
    parameter: Callable[[str, str], tuple[str, ...]] | None = None
    exports_by_part: bool = False
    variable: Callable[[str], str] = lambda name: name
    slurm_interface: str | None = None
    simulates: bool = False
    remove_remains: Callable[[Path], list[Path]] = lambda folder: []


@dataclass(frozen=True)
class LibraryAlgorithms:
    """What a library offers, and what is known of it.

    catalogue         its algorithms, as the installed library reports them
    offered_variants  groups of variants that the installed library offers, by the word that `--variants` takes
    counting          how it counts messages; None where it can't
    eager_limits      the sizes in bytes at which it changes its protocol, by its names for them
    notes             properties that disturb or change measurements here
    on_two_ranks      by collective, names of its algorithms without parameters that are one schedule on 2 ranks
    same_while_eager  by collective, names of its algorithms that differ only in whether sends wait for their messages
    stand_ins         (collective, another library's algorithm) → the algorithm, as typed, that replaces it
    """

    catalogue: Callable[[Mpi], Catalogue]
    offered_variants: Callable[[Mpi], Mapping[str, OfferedVariants]] = lambda mpi: {}
    counting: Callable[[Mpi], Counting | None] | None = None
    eager_limits: Callable[[Mpi], Mapping[str, int]] = lambda mpi: {}
    notes: Callable[[Mpi], tuple[Note, ...]] = lambda mpi: ()
    on_two_ranks: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    same_while_eager: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stand_ins: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def measured(self, collective: str, text: str) -> str:
        """The name of the algorithm that is measured where a study says `text`, without its provider."""
        return Algorithm.parse(self.stand_ins.get((collective, text), text)).name


@dataclass(frozen=True)
class LibrarySettings:
    """What makes a library run an algorithm: by Timpani, or by the user's environment and files.

    selection            the settings that make it run an algorithm; the catalogue's entry is None for the default
    setting              parameters by which a user has an algorithm in all calls of its collective
    overrides            names of environment variables that choose algorithms; launches remove them
    shared_start         how to start a launch that measures the unchanged default and algorithms that set something at
                         the start. None if no algorithm does, or if this is not verified for the version or not
                         possible on several nodes (the second argument): the default then has separate launches
    refusing_controls    control variables that make a call fail if it would use another algorithm than the forced one
    in_force             other settings of the library, in its files and in an environment without those variables
    without_own_files    variables that keep it from the parameter files of the user, by an environment
    control              the control variable that a parameter or an environment variable sets; None: it sets none
    names_of_control     the names that users type for a control variable, by its description; empty: its own name
    preferred_component  the component of collectives that a control variable prefers, by its name, its default and its
                         value; None: it prefers none
    installed            all parameters and components that the installation lists, by an environment
    """

    selection: Callable[[Mpi, AlgorithmInfo | None, Algorithm], AlgorithmSelection]
    setting: Callable[[Mpi, AlgorithmInfo, Algorithm], Parameters]
    overrides: re.Pattern[str]
    shared_start: Callable[[Mpi, bool], AlgorithmSelection | None] = lambda mpi, several_nodes: None
    refusing_controls: frozenset[str] = frozenset()
    in_force: Callable[[Mpi, Mapping[str, str]], Iterable[OutsideSetting]] = lambda mpi, environment: ()
    without_own_files: Callable[[Mpi, Mapping[str, str]], Mapping[str, str]] = lambda mpi, environment: {}
    control: Callable[[str], str | None] = lambda name: None
    names_of_control: Callable[[str], Iterable[str]] = lambda description: ()
    preferred_component: Callable[[str, str, str], str | None] = lambda name, default, value: None
    installed: Callable[[Mpi, Mapping[str, str]], InstalledSettings] = lambda mpi, environment: InstalledSettings()


@dataclass(frozen=True)
class LibraryFiles:
    """The files from which a library chooses its algorithms.

    tuning     those that Timpani writes
    parameter  the name of its file of parameters, a line `name = value` each; "": it has none
    """

    tuning: tuple[TuningFile, ...] = ()
    parameter: str = ""


@dataclass(frozen=True)
class Library:
    """One kind of MPI library. Other rooms ask its parts and name no library.

    kind, name  the word for it that users type, and its name
    unknown     what nobody tried with it, for its users; "": tests run it
    """

    kind: str
    name: str
    identity: Identity
    launcher: LibraryLauncher
    algorithms: LibraryAlgorithms
    settings: LibrarySettings
    files: LibraryFiles = LibraryFiles()
    unknown: str = ""

    def caution(self, mpi: Mpi) -> Iterator[str]:
        """What nobody tried with `mpi`, one of this kind: nothing, or one sentence."""
        if self.unknown:
            yield f"{mpi.title}: {self.unknown}"
