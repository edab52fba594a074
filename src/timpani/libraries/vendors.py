"""Vendors' libraries that are MPICH or Open MPI underneath, each recognized by what it reports of itself.

A vendor's library is used as its parent is: by the same launcher, variables and files, with the parent's version for
comparisons. Where it differs, its entry says so. None of them was at hand: their texts come from public records, which
`tests/libraries/finding/test_vendors.py` names.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from timpani.libraries.library import Command, LaunchRequest, Library, OfferedVariants
from timpani.native.library_version import LibraryVersion
from timpani.native.mpi import Mpi, ParentLibrary
from timpani.study.cell import ranks_per_node

UNKNOWN_VERSION = "of an unknown version"

_HEADERS = {"mpich": "MPICH_VERSION", "openmpi": "OMPI_VERSION"}
"""By parent, the name of the version in its header, which vendors keep."""


@dataclass(frozen=True)
class VendorLibrary:
    """One vendor's library.

    kind, name    the word that users type, and its name
    parent        the kind of the library that it is derived from
    reports       in what MPI_Get_library_version returns; each may name the `version`, and the `parent`'s
    header        whether its mpi.h has the parent's version
    folder        in the path of the installation, where the library reports what its parent does
    version_file  the file of the installation with its version, where the library does not report one
    launcher      what its launcher prints with --version, where it is not what the parent's prints
    mpiexec       in the path of the mpiexec that starts its ranks where Slurm does not
    wrappers      its C++ compilers' names, if the parent's has others
    installation  how a user gets at it
    unknown       a sentence on what else is unknown than of all vendors' libraries
    changes       fields that differ, by part of the parent's `Library`
    """

    kind: str
    name: str
    parent: str
    installation: str
    unknown: str = ""
    reports: tuple[re.Pattern[str], ...] = ()
    header: bool = True
    folder: re.Pattern[str] | None = None
    version_file: str = ""
    launcher: re.Pattern[str] | None = None
    mpiexec: re.Pattern[str] | None = None
    wrappers: tuple[str, ...] = ()
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def library(self, parent: Library) -> Library:
        """All that is known of it, as of any library."""
        identity = replace(
            parent.identity,
            launcher_says=self.launcher or parent.identity.launcher_says,
            wrappers=(*self.wrappers, *parent.identity.wrappers),
            reports=None,
            installation=self.installation,
            development=self.installation,
        )
        compare = f"Compare each algorithm that {parent.name}'s variables select with the default"
        unknown = ". ".join(filter(None, ("no real one was tried", compare, self.unknown)))
        parts = {part: replace(getattr(parent, part), **changes) for part, changes in self.changes.items()}
        return replace(parent, kind=self.kind, name=self.name, identity=identity, unknown=unknown, **parts)

    def recognized(self, found: Mpi, reported: LibraryVersion | None) -> Mpi | None:
        """`found`, its parent by launcher and wrapper, as this library; None where it is another one."""
        text = reported.text if reported else ""
        matches = [pattern.search(text) for pattern in self.reports]
        if self.folder:
            matches.append(self.folder.search(str(found.program.resolve())))
        match = next(filter(None, matches), None)
        if not match:
            return None
        groups = match.groupdict()
        header = reported.header.get(_HEADERS[self.parent], "") if reported and self.header else ""
        return self.as_vendor(
            found, groups.get("version") or self._written_version(found), groups.get("parent") or header
        )

    def as_vendor(self, found: Mpi, version: str, parent: str) -> Mpi:
        """`found` as this library of a version; each version is "" where it is unknown."""
        known = "" if parent == version else parent  # the vendor's version in place of the parent's
        return replace(
            found,
            kind=self.kind,
            name=self.name,
            version=version or UNKNOWN_VERSION,
            parent=ParentLibrary(found.name, known),
        )

    def _written_version(self, found: Mpi) -> str:
        if not self.version_file:
            return ""
        try:
            words = (found.program.resolve().parent.parent / self.version_file).read_text(errors="replace").split()
        except OSError:
            return ""
        return next((word.removeprefix("v") for word in words if re.match(r"v?\d", word)), "")


def _pals_command(mpi: Mpi, request: LaunchRequest) -> Command:
    """HPE's mpiexec (PALS), which hands its environment to all ranks."""
    hosts = ("--hosts", ",".join(host.name for host in request.hosts)) if request.hosts else ()
    count = 1 if request.placement == "node" else ranks_per_node(request.placement)
    each = ("--ppn", str(count)) if count else ()
    bound = ("--cpu-bind", "none" if request.oversubscribed else "core")
    words = (str(mpi.mpirun), *hosts, "-n", str(request.ranks), *each, *bound, *request.arguments, *request.program)
    return Command(argv=words, environment={**dict(request.parameters), **request.environment}, files={})


_CRAY_COLLECTIVES = OfferedVariants(
    {
        "coll-opt-off": "MPICH_COLL_OPT_OFF=1",
        "no-shared-mem-coll": "MPICH_SHARED_MEM_COLL_OPT=0",
        "mpich-collectives": "MPICH_COLL_OPT_OFF=1 MPICH_SHARED_MEM_COLL_OPT=0",
        "no-smp": "MPICH_ALLREDUCE_NO_SMP=1 MPICH_REDUCE_NO_SMP=1",
    },
    {},
)
"""Without HPE's optimized algorithms, without those in shared memory, without both, and without those that reduce on
each node first (HPE's page intro_mpi; 8.1.17 lists the names where MPICH_ENV_DISPLAY is set, in a public record)."""


def _cray_control(name: str) -> str | None:
    """HPE reads further variables MPICH_…, of which no control variable is known."""
    return name if name.startswith("MPIR_CVAR_") else None


VENDORS = (
    VendorLibrary(
        kind="cray",
        name="Cray MPICH",
        parent="mpich",
        reports=(re.compile(r"CRAY MPICH version (?P<version>[\d.]+)(?: \(ANL base (?P<parent>[\w.]+)\))?"),),
        mpiexec=re.compile(r"/pals/"),  # /opt/cray/pals/VERSION/bin/mpiexec
        wrappers=("CC",),
        installation="`module load cray-mpich` and a PrgEnv module, whose compiler CC is used",
        unknown="Of HPE's variables MPICH_… four are listed, by --variants components",
        # Its launcher is Slurm's srun or PALS's mpiexec; which files of MPICH it reads is unknown.
        changes={
            "launcher": {"command": _pals_command, "export": None, "slurm_interface": "cray_shasta"},
            "algorithms": {"offered_variants": lambda mpi: {"components": _CRAY_COLLECTIVES}},
            "settings": {"control": _cray_control},
            "files": {"tuning": ()},
        },
    ),
    VendorLibrary(
        kind="mvapich",
        name="MVAPICH",
        parent="mpich",
        reports=(re.compile(r"^MVAPICH2? Version\s*:\s*(?P<version>\S+)", re.MULTILINE),),
        installation="`module load mvapich` or mvapich2, or `spack load mvapich`",
        unknown="Its variables MV2_… and MVP_… are not listed",
        changes={"files": {"tuning": ()}},
    ),
    VendorLibrary(
        kind="parastation",
        name="ParaStation MPI",
        parent="mpich",
        reports=(re.compile(r"^MPICH Device:\s*psp\b", re.MULTILINE),),
        version_file="VERSION.psmpi",
        installation="`module load ParaStationMPI` or psmpi",
    ),
    VendorLibrary(
        kind="spectrum",
        name="IBM Spectrum MPI",
        parent="openmpi",
        reports=(
            re.compile(r"Open MPI v(?P<version>1\d[\w.]*), package: IBM Spectrum MPI"),
            re.compile(r"Open MPI v(?P<parent>\S+), package: IBM Spectrum MPI, ident: (?P<version>\d[\w.]*)"),
        ),
        header=False,  # mpi4py reads Spectrum's own version there (mpi4py, src/pympivendor.h)
        launcher=re.compile(r"\(IBM Spectrum MPI\) (?P<version>\d\S*)"),
        wrappers=("mpixlC",),
        installation="`module load spectrum-mpi`",
        unknown="The algorithms of its component ibm are not listed",
    ),
    VendorLibrary(
        kind="fujitsu",
        name="Fujitsu MPI",
        parent="openmpi",
        reports=(re.compile(r"FUJITSU MPI Library (?P<version>[\d.]+)(?: \((?P<parent>[\d.]+)fj[\d.]+\))?"),),
        wrappers=("mpiFCC",),
        installation="use Fujitsu's development environment on a compute node, with its compiler mpiFCC",
        unknown="Its algorithms for the Tofu network are not listed",
        changes={"launcher": {"slurm_interface": None}},
    ),
    VendorLibrary(
        kind="hpcx",
        name="NVIDIA HPC-X",
        parent="openmpi",
        folder=re.compile(r"/hpcx(?:-v?(?P<version>\d+(?:\.\d+)*))?[^/]*/"),
        installation="`module load hpcx`, or `source hpcx-init.sh; hpcx_load` in its folder",
        unknown="A forced algorithm excludes the components hcoll and ucc",
    ),
)
