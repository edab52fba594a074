"""Checks for conditions that spoil a measurement on this machine, with commands that fix them."""

import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from timpani.errors import UserError, printable, shortened
from timpani.libraries.find import INSTALL, Unusable, search_mpis, ways_to_a_library
from timpani.libraries.library import OutsideSetting
from timpani.libraries.outside_settings import described, outside_settings
from timpani.libraries.registry import LIBRARIES
from timpani.machine.cores import Cores, busy_cores, read_cores
from timpani.machine.describe import frequency_governor
from timpani.machine.nodes.host_list import RankBinding, same_host
from timpani.machine.nodes.model import fold_numbers
from timpani.native.build import is_built
from timpani.native.cache import cache_folder
from timpani.native.compiler import missing_compiler, tool
from timpani.native.mpi import Mpi
from timpani.native.packages import install_command
from timpani.study.words import counted


def check_binding(asked: Sequence[RankBinding], ran: Sequence[Mapping[str, Any]], own_cores: bool) -> str | None:
    """The differences between requested and actual places in words, with a map of both; None without differences.

    `ran` has each rank's `host`, `cores` and `sockets` from the measuring program. With `own_cores` each rank should
    have had its own cores, on the requested socket. Numbers of cores and sockets are not compared, only which ranks
    share them: Linux, hwloc and firmware number them differently.
    """
    if not all(same_host(place.host, there["host"]) for place, there in zip(asked, ran, strict=True)):
        return (
            f"requested {_show_hosts(place.host for place in asked)}; ran {_show_hosts(there['host'] for there in ran)}"
        )
    if not own_cores:
        return None
    for host in dict.fromkeys(place.host for place in asked):
        ranks = [rank for rank, place in enumerate(asked) if place.host == host]
        if mistake := _shared_cores(host, ranks, ran) or _on_other_sockets(host, ranks, asked, ran):
            return mistake
    return None


def _shared_cores(host: str, ranks: list[int], ran: Sequence[Mapping[str, Any]]) -> str | None:
    users = _ranks_by((rank, core) for rank in ranks for core in ran[rank]["cores"])
    if all(len(sharing) == 1 for sharing in users.values()):
        return None
    found = "; ".join(f"rank {rank} on {fold_numbers(ran[rank]['cores'])}" for rank in ranks)
    return f"requested a separate core for each rank of {host}; ran {found}"


def _on_other_sockets(
    host: str, ranks: list[int], asked: Sequence[RankBinding], ran: Sequence[Mapping[str, Any]]
) -> str | None:
    found = [ran[rank]["sockets"] for rank in ranks]
    if any(asked[rank].socket is None for rank in ranks) or any(
        len(sockets) != 1 or sockets[0] < 0 for sockets in found
    ):
        return None  # unknown
    wanted = _ranks_by((rank, asked[rank].socket) for rank in ranks)
    got = _ranks_by((rank, ran[rank]["sockets"][0]) for rank in ranks)
    # Only which ranks share a socket, whatever its number.
    shown, ran_on = (" | ".join(map(fold_numbers, groups.values())) for groups in (wanted, got))
    return None if shown == ran_on else f"requested ranks of {host} on sockets {shown}; ran {ran_on}"


def _ranks_by(pairs: Iterable[tuple[int, Any]]) -> dict[Any, list[int]]:
    """The ranks of each value, from ranks with one of their values."""
    ranks: defaultdict[Any, list[int]] = defaultdict(list)
    for rank, value in pairs:
        ranks[value].append(rank)
    return ranks


def _show_hosts(hosts: Iterable[str]) -> str:
    """`n1: 0-3, n2: 4-7`: the ranks on each host."""
    return ", ".join(f"{host}: {fold_numbers(ranks)}" for host, ranks in _ranks_by(enumerate(hosts)).items())


_BUSY_SHARE = 0.1  # share of the usable cores: more load by other processes changes medians
_SHARED_MEMORY_BYTES_PER_RANK = 32 * 2**20  # twice Open MPI 5.0's btl_sm_segment_size of 16 MiB (ompi_info)

_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 — only read


@dataclass(frozen=True)
class CheckResult:
    """The result of one check. `fix` is the command or step that helps; empty if there is nothing to fix."""

    level: Literal["ok", "warning", "problem"]
    subject: str
    what: str
    fix: str = ""


def examine() -> list[CheckResult]:
    """All checks, in a natural order."""
    found = search_mpis()
    cores = read_cores()
    libraries = [mpi for mpi in found if isinstance(mpi, Mpi)]
    return [
        *check_libraries(found),
        *(unless_built(finding, [mpi]) for mpi in libraries for finding in check_compiler(mpi)),
        *(unless_built(finding, libraries) for finding in check_build_tools()),
        *check_cache(),
        *check_cores(cores),
        *check_frequency(frequency_governor()),
        *check_load(busy_cores(), cores),
        *check_shared_memory(cores),
        *(finding for mpi in libraries for finding in check_settings(mpi, outside_settings(mpi, os.environ))),
        *check_remote_shell(shutil.which("ssh") or shutil.which("rsh"), srun=shutil.which("srun")),
        *check_launchers(libraries, root=os.geteuid() == 0, srun=shutil.which("srun")),
    ]


def check_libraries(found: list[Mpi | Unusable]) -> Iterator[CheckResult]:
    """Checks each library found, and launchers without a compiler."""
    usable = any(isinstance(each, Mpi) for each in found)
    for each in found:
        if isinstance(each, Mpi):
            yield CheckResult("ok", "MPI", f"{each}, compiler {each.wrapper or 'not installed'}")
        else:
            yield CheckResult("warning" if usable else "problem", "MPI", each.why, each.fix)
    if not found:
        step = ways_to_a_library(os.environ, INSTALL)
        yield CheckResult("problem", "MPI", "no MPI library on PATH or in this Python's environment", step)
    elif usable:
        first = next(each for each in found if isinstance(each, Mpi))
        what = f"commands use {first.title} unless you choose another library"
        yield CheckResult("ok", "MPI", what, f"another one: {ways_to_a_library(os.environ)}")


def check_compiler(mpi: Mpi) -> Iterator[CheckResult]:
    """Checks that the wrapper runs a compiler for C++20."""
    if mpi.wrapper is None:  # programs are carried for it
        return
    if missing := missing_compiler(mpi.cxx, dict(mpi.environment)):
        yield CheckResult("problem", "compiler", missing.what, missing.next_step)
        return
    program = b"#if __cplusplus < 202002L\n#error C++20\n#endif\n#include <span>\n#include <mpi.h>\nint main() {}\n"
    environment = {**os.environ, **dict(mpi.environment), "LC_ALL": "C"}
    answer = subprocess.run(
        [mpi.cxx, "-std=c++20", "-fsyntax-only", "-x", "c++", "-"],
        input=program,
        capture_output=True,
        check=False,
        env=environment,
    )
    version = subprocess.run([mpi.cxx, "--version"], capture_output=True, text=True, check=False, env=environment)
    name = next(iter(version.stdout.splitlines()), "no version")
    if answer.returncode == 0:
        yield CheckResult("ok", "compiler", f"{mpi.cxx}: {name}")
        return
    said = answer.stderr.decode(errors="replace")
    error = next((line for line in said.splitlines() if "error" in line.lower()), said.strip() or "it prints nothing")
    what = f"{mpi.cxx} can't compile C++20 with MPI ({name}): {printable(shortened(error, 200))}"
    old = "c++20" in said.lower() or "<span>" in said
    step = f"{install_command('g++')} (10 or later)" if old else f"`{mpi.cxx} -show` shows the command that fails"
    yield CheckResult("problem", "compiler", what, step)


def check_build_tools() -> Iterator[CheckResult]:
    for name in ("cmake", "ninja"):
        if path := tool(name):
            yield CheckResult("ok", "build tools", f"{name} at {path}")
        else:
            yield CheckResult("problem", "build tools", f"no {name} found", f"`pip install {name}`")


def unless_built(finding: CheckResult, libraries: Sequence[Mpi]) -> CheckResult:
    """`finding` about what compiles the programs of `libraries`: no problem where these are in the cache already."""
    if finding.level != "problem":
        return finding
    built = [mpi.title for mpi in libraries if is_built(mpi)]
    if not built:
        return finding
    already = f"the programs for {' and '.join(built)} are built already"
    what = f"{finding.what}; {already}: needed only for another library, or another version of it or of Timpani"
    return replace(finding, level="ok" if len(built) == len(libraries) else "warning", what=what)


def check_cache() -> Iterator[CheckResult]:
    try:
        folder = cache_folder()
    except UserError as error:
        yield CheckResult("problem", "cache", error.what, error.next_step)
        return
    if folder.name == "timpani":
        yield CheckResult("ok", "cache", f"built programs are kept in {folder}")
    else:
        what = f"no cache folder can be written: built programs go to {folder} and may be lost"
        yield CheckResult("warning", "cache", what, "set XDG_CACHE_HOME to a folder you can write")


def check_cores(cores: Cores) -> Iterator[CheckResult]:
    """Checks how many ranks fit, and what distinguishes these cores from a job's own."""
    layout = f"sockets: {cores.sockets}, NUMA nodes: {cores.numa_nodes}, threads a core: {cores.threads_per_core}"
    what = f"{cores.usable} of {cores.present} usable, one rank each; {layout}; {cores.model}"
    yield CheckResult("ok", "cores", what)
    if cores.allowed < cores.present:
        yield CheckResult(
            "warning",
            "binding",
            f"this process may run on {cores.allowed} of {cores.present} cores; the launchers heed the CPU set of a "
            "batch system or a container, but bind ranks outside the mask that `taskset` sets",
            "start from a shell without `taskset`, or ask the batch system for all cores",
        )
    else:
        yield CheckResult("ok", "binding", "ranks can be bound to every core")
    if cores.quota is not None and cores.quota < cores.allowed:
        yield CheckResult(
            "warning",
            "quota",
            f"the control group may use {cores.quota:g} CPUs' time on {cores.allowed} cores: "
            f"more than {counted(cores.usable, 'rank')} would be throttled",
            "start the container with a CPU set, not a share: `docker run --cpuset-cpus`",
        )
    if cores.usable == 1:
        what = "only one usable core: two ranks share it and wait for the scheduler"
        yield CheckResult("problem", "oversubscription", what, "measure on a machine with more cores")
    if cores.threads_per_core > 1:
        rest = "ranks get whole cores, other processes may use the remaining threads"
        yield CheckResult("ok", "SMT", f"{cores.threads_per_core} hardware threads a core; {rest}")
    if cores.hypervisor:
        what = f"{cores.hypervisor} virtual machine: the host may take or move cores during the measurement"
        fix = "use many launches, and measure on bare metal before you decide"
        yield CheckResult("warning", "virtual machine", what, fix)


def check_frequency(governor: str | None) -> Iterator[CheckResult]:
    if governor is None:
        yield CheckResult("ok", "frequency", "this kernel does not change the clock rate of the cores")
    elif governor == "performance":
        yield CheckResult("ok", "frequency", "governor performance")
    else:
        what = f"governor {governor}: idle cores may slow down"
        yield CheckResult("warning", "frequency", what, "`cpupower frequency-set -g performance` (as root)")


def check_load(busy: float, cores: Cores) -> Iterator[CheckResult]:
    """`busy`: cores that other processes kept busy in the last second, on average."""
    what = f"in the last second other processes kept {busy:.1f} of {cores.present} cores busy"
    if busy > _BUSY_SHARE * cores.usable:
        yield CheckResult("warning", "load", what, "`top` shows them; wait until they end")
    else:
        yield CheckResult("ok", "load", what)


def check_shared_memory(cores: Cores, folder: Path = _SHARED_MEMORY) -> Iterator[CheckResult]:
    """Checks /dev/shm: both libraries send between ranks of a node through files there."""
    subject = "shared memory"
    try:
        free = shutil.disk_usage(folder).free
    except OSError:
        yield CheckResult("problem", subject, f"there is no {folder}", f"`mount -t tmpfs tmpfs {folder}` (as root)")
        return
    needed = cores.usable * _SHARED_MEMORY_BYTES_PER_RANK
    if free < needed:
        what = f"{folder} has {free // 2**20} MiB free; {cores.usable} ranks may need {needed // 2**20}"
        fix = f"`docker run --shm-size={max(1, needed >> 30)}g`, or remove old files in {folder}"
        yield CheckResult("problem", subject, what, fix)
    else:
        yield CheckResult("ok", subject, f"{folder} has {free / 2**30:.1f} GiB free")


def check_settings(mpi: Mpi, settings: Sequence[OutsideSetting]) -> Iterator[CheckResult]:
    """Settings of `mpi` outside Timpani: in the environment and in files that the library reads."""
    subject = f"settings of {mpi.name}"
    removed = [each for each in settings if each.removed]
    for text in described([each for each in settings if each.decides_default]):
        yield CheckResult("warning", subject, text, "remove the setting, or keep it deliberately: campaigns record it")
    for text in described(removed):
        names = " ".join(each.name for each in removed)
        fix = f"`unset {names}`, so that your programs use the settings that are measured"
        yield CheckResult("warning", subject, text, fix)
    for text in described([each for each in settings if not each.chooses]):
        yield CheckResult("ok", subject, text)


def check_remote_shell(shell: str | None, srun: str | None) -> Iterator[CheckResult]:
    """Checks the remote shell by which the libraries' launchers reach other nodes."""
    if shell:
        yield CheckResult("ok", "remote shell", f"{shell} starts ranks on other nodes")
    else:
        by_slurm = " outside a Slurm job" if srun else ""
        what = (
            f"no ssh on PATH: mpirun can't start ranks on other nodes{by_slurm}, "
            "nor on this one if Open MPI's settings name ssh"
        )
        yield CheckResult("warning", "remote shell", what, install_command("openssh-client"))


def check_launchers(libraries: list[Mpi], root: bool, srun: str | None) -> Iterator[CheckResult]:
    """Checks how the libraries' launchers behave here."""
    if root:
        what = "running as root: Open MPI allows it only with an option, which Timpani sets"
        yield CheckResult("warning", "root", what, "measure as an ordinary user if others use the machine")
    for mpi in libraries:
        yield from (CheckResult("ok", note.subject, note.what) for note in LIBRARIES[mpi.kind].algorithms.notes(mpi))
        yield from (CheckResult("ok", mpi.name, text) for text in LIBRARIES[mpi.kind].caution(mpi))
    if srun is None:
        yield CheckResult("ok", "PMIx", "no Slurm here: mpirun starts the ranks itself")
        return
    modes = subprocess.run([srun, "--mpi=list"], capture_output=True, text=True, check=False)
    if "pmix" in modes.stdout + modes.stderr:
        what = f"{srun} starts Open MPI's ranks with --mpi=pmix; Timpani starts with mpirun"
        yield CheckResult("ok", "PMIx", what)
    else:
        what = f"{srun} has no PMIx: each rank of an Open MPI program would start as a separate job"
        yield CheckResult("warning", "PMIx", what, "start with mpirun inside an allocation, as Timpani does")
