"""Unmodified programs, compiled by each MPI library's own compilers, and libtimpani.so beneath them."""

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic_ns

import pytest

from tests.builds import build_preloaded
from tests.campaign.live import SECONDS
from tests.preloading import yielding
from timpani.libraries.library import LaunchRequest
from timpani.machine.cores import read_cores
from timpani.machine.launchers import command
from timpani.native.mpi import Mpi
from timpani.programs.profile.profile_folder import ProgramProfile, is_profile, read_profile
from timpani.programs.profile.profile_lines import ProfilePart

PROGRAMS = Path(__file__).parent / "programs"

TREES = {  # an algorithm for every collective, most of them along trees
    "barrier": "dissemination",
    "bcast": "pipeline:segment_bytes=64",
    "gather": "binomial",
    "gatherv": "binomial",
    "scatter": "binomial",
    "scatterv": "binomial",
    "allgather": "bruck",
    "allgatherv": "ring",
    "alltoall": "bruck",
    "alltoallv": "pairwise",
    "reduce": "in_order_binary",
    "allreduce": "recursive_doubling",
    "reduce_scatter": "butterfly",
    "reduce_scatter_block": "butterfly",
    "scan": "recursive_doubling",
    "exscan": "recursive_doubling",
}
STRAIGHT = {  # another for every collective
    "barrier": "linear",
    "bcast": "scatter_allgather",
    "gather": "linear",
    "gatherv": "linear",
    "scatter": "linear",
    "scatterv": "linear",
    "allgather": "ring",
    "allgatherv": "bruck",
    "alltoall": "pairwise",
    "alltoallv": "linear",
    "reduce": "linear",
    "allreduce": "ring",
    "reduce_scatter": "ring",
    "reduce_scatter_block": "ring",
    "scan": "linear",
    "exscan": "linear",
}
SHARED = {  # those that share memory on a node, in segments that are used alternately
    "bcast": "two_level_shared:segment_bytes=64,window_segments=2",
    "allreduce": "full_lane_shared:segment_bytes=64",
}


def rules(*lines: str) -> str:
    """The text of a rules file."""
    return "\n".join(["timpani-rules 1", *lines, f"end {len(lines)}", ""])


def everywhere(algorithms: dict[str, str]) -> str:
    return rules(*(f"{collective} {algorithm}" for collective, algorithm in algorithms.items()))


@dataclass
class Run:
    """How a program ended; its profile, None where it wrote none, and the calls of its first part as rows of text."""

    status: int
    stdout: str
    stderr: str
    whole: ProgramProfile | None
    profile: list[dict[str, str]]

    @property
    def part(self) -> ProfilePart:
        """The only part of the profile."""
        assert self.whole is not None
        [part] = self.whole.parts
        return part

    def ran(self, collective: str) -> set[str]:
        """The algorithms that ran for a collective."""
        return {row["algorithm"] for row in self.profile if row["collective"] == collective}

    def messages(self) -> list[str]:
        """What the library said on stderr."""
        return [line for line in self.stderr.splitlines() if line.startswith("timpani:")]


def rows_of(profile: ProgramProfile | None) -> list[dict[str, str]]:
    """The calls of the first part, as text; of a set-up the algorithm is what was made."""
    if profile is None or not profile.parts:
        return []
    part = profile.parts[0]
    return [
        {
            "collective": "setup" if line.form == "setup" else line.call,
            "communicator": "inter" if line.between_groups else "intra",
            "ranks": str(line.ranks),
            "bytes_low": "" if line.bytes_low is None else str(line.bytes_low),
            "algorithm": line.name if line.form == "setup" else line.algorithm or "default",
            "reason": line.reason,
            "calls": f"{part.calls_of(line):g}",
        }
        for line in part.calls
        if line.form not in ("message", "completion")
    ]


# Starts a program after it has taken the library away from one rank, as scripts do that clean their environment.
CLEANED = 'test "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != "$0" || unset LD_PRELOAD TIMPANI_RULES; exec "$@"'

RunProgram = Callable[..., Run]


@pytest.fixture(scope="session")
def library(mpi: Mpi) -> Path:
    return build_preloaded(mpi)


def compiler(mpi: Mpi, source: Path) -> str:
    """The wrapper compiler next to the C++ one, for the language of `source`."""
    name = mpi.cxx.name.replace("mpicxx", "mpicc" if source.suffix == ".c" else "mpif90")
    return str(mpi.cxx.with_name(name))


@pytest.fixture(scope="session")
def compiled(mpi: Mpi, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A program of `programs/`, compiled once."""
    folder = tmp_path_factory.mktemp(f"programs-{mpi.kind}")

    def program(name: str) -> Path:
        source, done = PROGRAMS / name, folder / name.replace(".", "-").replace("/", "-")
        if not done.exists():
            if source.suffix != ".c" and shutil.which("gfortran") is None:
                pytest.skip("no Fortran compiler on this machine")
            if not Path(compiler(mpi, source)).exists():
                pytest.skip(f"may be skipped: {mpi} came without Fortran")
            subprocess.run(
                [compiler(mpi, source), "-O1", str(source), "-rdynamic", "-lpthread", "-ldl", "-o", str(done)],
                cwd=folder,
                check=True,
            )
        return done

    return program


@pytest.fixture
def run_program(mpi: Mpi, library: Path, compiled: Callable[[str], Path], tmp_path: Path) -> RunProgram:
    """Run a program with `text` as rules beneath it (`None`: without the library), and return what it did.

    without  a rank that runs without the library all the same
    started  how many processes the program starts itself
    """

    def run(
        name: str,
        *arguments: str,
        text: str | None,
        ranks: int = 3,
        without: int | None = None,
        started: int = 0,
        **environment: str,
    ) -> Run:
        profile = tmp_path / "profile"
        shutil.rmtree(profile, ignore_errors=True)
        (tmp_path / "rules").write_text(text or "")
        clock = tmp_path / "clock"  # of programs that include profiled/planted_clock.h
        clock.write_bytes(monotonic_ns().to_bytes(8, "little") + bytes(64))
        oversubscribed = ranks + started > read_cores().usable
        variables = {"TIMPANI_RULES": str(tmp_path / "rules"), "TIMPANI_PROFILE": str(profile)}
        beneath = {**variables, **yielding(mpi, library)} if text is not None else yielding(mpi)
        request = LaunchRequest(
            ranks=ranks,
            placement="core",
            oversubscribed=oversubscribed,
            parameters=(),
            environment={**beneath, "PLANTED_CLOCK": str(clock), **environment},
            program=(
                *(() if without is None else ("sh", "-c", CLEANED, str(without))),
                *(str(compiled(name)), *arguments),
            ),
        )
        to_run = command(mpi, request)
        done = subprocess.run(
            to_run.argv,
            env={**os.environ, **to_run.environment},
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        whole = read_profile(profile) if is_profile(profile) else None
        return Run(done.returncode, done.stdout, done.stderr, whole, rows_of(whole))

    return run
