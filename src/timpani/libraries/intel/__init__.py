"""Intel MPI, 2021 and later: from oneAPI, or the wheels impi-rt and impi-devel.

Presets of each collective, by number, are read once when the library starts. `impi_info` lists how many there are, not
what they do. A number that doesn't exist is taken for none, without a word (ran on 2021.18); one that can't serve a
call falls back as silently. 0 leaves the choice to the library.

Presets of several collectives share no start: some collectives consist of others and obey their presets. Allreduce by
3 and 5 took up to 2.4 times as long at 1 KiB where reduce and broadcast had preset 5 (2 ranks, 2021.18). Nor was a way
seen to change one inside a start: for broadcasts neither I_MPI_ADJUST_BCAST, set again, nor MPI_T's
MPIR_CVAR_USE_BCAST, …_LIST and …_COMPOSITION made a difference to a new communicator.

`I_MPI_FABRICS` takes `shm:ofi` (the default), `ofi` or `shm`, which connects ranks of one node only;
`I_MPI_OFI_PROVIDER` names the provider of the network (Intel MPI Library Developer Reference for Linux, 2021.7,
Communication Fabrics Control). Each provider is a file of the installation.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from timpani.errors import UserError
from timpani.libraries import hydra
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameters
from timpani.libraries.hydra import hydra_command, per_node, settings_of_file
from timpani.libraries.intel.adjust_file import AdjustFile
from timpani.libraries.library import (
    AlgorithmSelection,
    Command,
    Identity,
    LaunchRequest,
    Library,
    LibraryAlgorithms,
    LibraryFiles,
    LibraryLauncher,
    LibrarySettings,
    OfferedVariants,
    OutsideSetting,
    variables,
)
from timpani.libraries.mpich import settings as mpich
from timpani.libraries.taken_settings import InstalledSettings
from timpani.native.mpi import Mpi
from timpani.study.cell import Algorithm
from timpani.study.operations import COLLECTIVES

_PRESET = re.compile(r"^I_MPI_ADJUST_(?P<operation>[A-Z_]+?) *$", re.MULTILINE)
_RANGE = re.compile(r"^ *range: *\d+-(?P<last>\d{1,3}) *$", re.MULTILINE)


def catalogue(mpi: Mpi) -> Catalogue:
    """Ask the impi_info that belongs to `mpi`."""
    if mpi.info is None:
        raise UserError(f"{mpi} has no impi_info, which lists its presets", "install the library whole")
    library = str(mpi.info.resolve().parent.parent / "lib")
    paths = os.pathsep.join(filter(None, (library, os.environ.get("LD_LIBRARY_PATH", ""))))
    answer = subprocess.run(
        [mpi.info, "-a"],
        capture_output=True,
        text=True,
        errors="replace",  # it writes Latin-1
        check=False,
        env={**os.environ, **dict(mpi.environment), "LD_LIBRARY_PATH": paths},
    )
    algorithms = read_presets(answer.stdout)
    if not algorithms:
        raise UserError(
            f"{mpi.info} lists no preset ({answer.stderr.strip() or 'it says nothing'})", f"look at `{mpi.info} -a`"
        )
    return Catalogue(mpi.kind, mpi.version, algorithms, name=mpi.name)


def selection(mpi: Mpi, info: AlgorithmInfo | None, algorithm: Algorithm) -> AlgorithmSelection:
    """A separate start for each preset."""
    return AlgorithmSelection(() if info is None else _parameters(info))


def setting(mpi: Mpi, info: AlgorithmInfo, algorithm: Algorithm) -> Parameters:
    """The variable of the measurement."""
    return _parameters(info)


def read_presets(listed: str) -> dict[str, tuple[AlgorithmInfo, ...]]:
    """The presets of each collective that we measure, from what `impi_info -a` prints."""
    variables = list(_PRESET.finditer(listed))
    ends = [each.start() for each in variables[1:]] + [len(listed)]
    last_presets = {
        variable["operation"].lower(): int(listed_range["last"])
        for variable, end in zip(variables, ends, strict=True)
        if (listed_range := _RANGE.search(listed, variable.end(), end))
    }
    return {
        collective: tuple(
            AlgorithmInfo(collective, f"preset_{number}", str(number), (), aliases=(str(number),))
            for number in range(1, last_presets[collective] + 1)
        )
        for collective in COLLECTIVES
        if collective in last_presets
    }


def _parameters(info: AlgorithmInfo) -> Parameters:
    return ((f"I_MPI_ADJUST_{info.collective.upper()}", info.value),)


OVERRIDES = re.compile(rf"I_MPI_(ADJUST_\w+|TUNING\w*|COLL_\w+)|{mpich.OVERRIDES.pattern}")
"""Presets, the tables that they are chosen by, and the variables of MPICH, which Intel MPI is built from."""

_PREFIX = "I_MPI_"
_ALIASES = re.compile(r"@Alias:# *(?P<names>[\w, ]+)")
"""In the description of a control variable, the environment variables that set it (2021.1 to 2021.19, observed)."""

_VARIABLE = re.compile(r"(I_MPI|MPIR_CVAR|HYDRA|UCX|FI)_\w+|LD_PRELOAD")


def control(name: str) -> str | None:
    """The control variable that a variable sets: `names_of_control` has the names that begin with I_MPI."""
    return name if name.startswith(_PREFIX) else mpich.control(name)


def names_of_control(description: str) -> list[str]:
    """The environment variables that set the control variable with this description."""
    match = _ALIASES.search(description)
    return [name for name in re.split(r"[\s,]+", match["names"]) if name.startswith(_PREFIX)] if match else []


def installed_settings(mpi: Mpi, environment: Mapping[str, str]) -> InstalledSettings:
    """The variables that the launcher's program names: it reads some that no control variable of the library shows."""
    names = re.findall(rf"{_PREFIX}\w+".encode(), mpi.mpirun.read_bytes())
    return InstalledSettings({name.decode(): "the launcher" for name in names})


def settings_in_force(mpi: Mpi, environment: Mapping[str, str]) -> Iterator[OutsideSetting]:
    """The launcher (2021.18, observed) reads all of its configuration files that exist."""
    folders = (
        mpi.mpirun.resolve().parent.parent / "intel64" / "etc" / "mpiexec.conf",
        Path(environment.get("HOME", "/")) / ".mpiexec.conf",
        Path.cwd() / "mpiexec.conf",
    )
    for path in folders:
        yield from settings_of_file(path, OVERRIDES)
    set_by_user = {name: value for name, value in environment.items() if name not in dict(mpi.environment)}
    yield from variables(set_by_user, _VARIABLE, OVERRIDES)


# Its launcher takes -bind-to and heeds it not: what binds is read by the ranks (ran on 2021.18).
_BOUND = {"I_MPI_PIN_DOMAIN": "core"}
_ORDER = {"core": "compact", "socket": "scatter"}
"""Cores that are neighbors share the most, or the least."""

# Ranks that share a core wait asleep: without, each keeps its core from the rank that it waits for.
_OVERSUBSCRIBED = {"I_MPI_PIN": "0", "I_MPI_WAIT_MODE": "1"}


def command(mpi: Mpi, request: LaunchRequest) -> Command:
    """Ranks bound to a core each; without binding and sleeping while they wait where there are more ranks than cores.

    Without a list of hosts it looks this computer up by its name, and fails where that has no address.
    """
    order = {"I_MPI_PIN_ORDER": _ORDER.get(request.placement, "compact")}
    waiting = _OVERSUBSCRIBED if request.oversubscribed else {**_BOUND, **order}
    return hydra_command(mpi, request, per_node(request.placement), waiting, without_hosts=("-hosts", "localhost"))


_FABRICS = "I_MPI_FABRICS"
_PROVIDER = "I_MPI_OFI_PROVIDER"
_FILE = re.compile(r"lib(?P<provider>\w+?)(-[\d.]+)?-fi\.so")
_FOLDERS = ("lib", "lib/prov", "libfabric/lib/prov", "opt/mpi/libfabric/lib/prov")
"""Of the providers: in the wheel, and in oneAPI's releases."""

_NO_NETWORKS = {"rxm": "a layer above other providers", "shm": "shared memory, as the variant shm"}


def offered_variants(mpi: Mpi) -> dict[str, OfferedVariants]:
    """`transports`: shared memory alone, the network for all messages, and each provider for all messages."""
    root = mpi.mpirun.resolve().parent.parent
    files = (_FILE.fullmatch(path.name) for folder in _FOLDERS for path in (root / folder).glob("lib*-fi.so"))
    providers = sorted({match["provider"] for match in files if match})
    variants = {name: f"{_FABRICS}={name}" for name in ("ofi", "shm")}
    variants |= {f"ofi-{name}": f"{_FABRICS}=ofi {_PROVIDER}={name}" for name in providers if name not in _NO_NETWORKS}
    left_out = {f"ofi-{name}": why for name, why in _NO_NETWORKS.items() if name in providers}
    return {"transports": OfferedVariants(variants, {"shm:ofi": "in force by default"} | left_out)}


def _environment(launcher: Path) -> dict[str, str]:
    """What oneAPI's `setvars.sh` would set: its compilers and its ranks ask where the library lies."""
    return {"I_MPI_ROOT": str(launcher.resolve().parent.parent)}


LIBRARY = Library(
    kind="intel",
    name="Intel MPI",
    identity=Identity(
        launcher_says=re.compile(r"Intel\(R\) MPI Library for Linux\* OS, Version (?P<version>\d[\d.]*)"),
        wrappers=("mpigxx", "mpicxx"),
        wrapper_question="-v",
        wrapper_says=re.compile(r"Intel\(R\) MPI Library (?P<version>\d[\d.]*)"),
        reports=re.compile(r"^Intel\(R\) MPI Library (?P<version>\d[\d.]*)"),
        info="impi_info",
        installation="`pip install impi-devel` into this environment, or oneAPI's intel-oneapi-mpi-devel",
        development="`pip install impi-devel`, or oneAPI's intel-oneapi-mpi-devel",
        launcher="mpiexec.hydra",  # its mpirun takes the first mpiexec.hydra on PATH, which may be MPICH's
        environment=_environment,
    ),
    launcher=LibraryLauncher(
        command=command,
        start_seconds=0.4,
        host_with_slots=hydra.HOST_WITH_SLOTS,
        export=hydra.export,
    ),
    algorithms=LibraryAlgorithms(
        catalogue=catalogue,
        offered_variants=offered_variants,
    ),
    settings=LibrarySettings(
        selection=selection,
        setting=setting,
        overrides=OVERRIDES,
        in_force=settings_in_force,
        control=control,
        names_of_control=names_of_control,
        installed=installed_settings,
    ),
    files=LibraryFiles(
        tuning=(AdjustFile(),),
    ),
)
