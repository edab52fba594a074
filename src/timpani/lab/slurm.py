"""Slurm in a lab: munged, one slurmctld on the first node, a slurmd on each, and a switch tree."""

import secrets
import subprocess
import time
from pathlib import Path

from timpani.errors import UserError
from timpani.lab.enter import SLURM_CONF
from timpani.lab.lab import Lab
from timpani.lab.layout import Layout

PROGRAMS = {
    "munged": "munge",
    "slurmctld": "slurm-wlm",
    "slurmd": "slurm-wlm",
    "sbatch": "slurm-wlm",
}

PARTITION = "lab"

_START_SECONDS = 30.0  # until all nodes are idle
_POLL_SECONDS = 0.1


def configuration(layout: Layout, folder: Path) -> dict[str, str]:
    """Slurm's files by name. Processes are neither bound nor confined: what a lab shares can't be dealt out."""
    first = layout.members[0]
    nodes = "".join(
        f"NodeName={node.name} NodeAddr={node.address} CPUs={layout.cores} RealMemory=1\n" for node in layout.members
    )
    switches = "".join(
        f"SwitchName=g{number} Nodes={','.join(node.name for node in layout.group(number))}\n"
        for number in range(1, layout.groups + 1)
    )
    leaves = ",".join(f"g{number}" for number in range(1, layout.groups + 1))
    return {
        SLURM_CONF: f"""ClusterName=lab{layout.lab}
SlurmctldHost={first.name}({first.address})
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder / "munge.socket"}
CredType=cred/munge
StateSaveLocation={folder / "slurmctld"}
SlurmdSpoolDir={folder}/slurmd-%n
SlurmctldPidFile={folder / "slurmctld.pid"}
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder / "slurmctld.log"}
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
TopologyPlugin=topology/tree
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=10
MpiDefault=none
{nodes}PartitionName={PARTITION} Nodes=ALL Default=YES OverSubscribe=FORCE State=UP
""",
        "topology.conf": switches + (f"SwitchName=root Switches={leaves}\n" if layout.groups > 1 else ""),
        "cgroup.conf": f"CgroupPlugin={_cgroup_plugin()}\n",
    }


def _cgroup_plugin() -> str:
    return "cgroup/v2" if Path("/sys/fs/cgroup/cgroup.controllers").exists() else "cgroup/v1"


def start_slurm(layout: Layout, lab: Lab) -> None:
    """Start all daemons and wait until every node takes jobs; UserError with a daemon's own words where one fails.

    They need no end: whatever runs on a lab's nodes ends with the lab.
    """
    for name, text in configuration(layout, lab.folder).items():
        (lab.folder / name).write_text(text)
    key = lab.folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    first = layout.members[0].name
    files = {kind: f"--{kind}-file={lab.folder / 'munge'}.{kind}" for kind in ("key", "pid", "log", "seed")}
    munged = ("munged", "--foreground", "--force", f"--socket={lab.folder / 'munge.socket'}", *files.values())
    daemons = [
        _Daemon("munged", lab, first, munged),
        _Daemon("slurmctld", lab, first, ("slurmctld", "-D", "-i")),
        *(_Daemon(f"slurmd-{node.name}", lab, node.name, slurmd(node.name)) for node in layout.members),
    ]
    deadline = time.monotonic() + _START_SECONDS
    while not _ready(layout, lab):
        for daemon in daemons:
            daemon.check()
        if time.monotonic() > deadline:
            raise UserError(f"Slurm's nodes took no jobs within {_START_SECONDS:g} s", "look at slurmctld's own words")
        time.sleep(_POLL_SECONDS)


def slurmd(node: str) -> tuple[str, ...]:
    """What serves jobs on a node, for whoever ended it and wants it back."""
    return ("slurmd", "-D", "-N", node)


class _Daemon:
    """A process on a node that outlives us."""

    def __init__(self, name: str, lab: Lab, node: str, command: tuple[str, ...]) -> None:
        self._name = name
        self._output = lab.folder / f"{name}.out"
        with self._output.open("wb") as file:
            self._process = subprocess.Popen(
                lab.enter(node, command),
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def check(self) -> None:
        """UserError when it has ended."""
        if self._process.poll() is not None:
            words = self._output.read_text(errors="replace").strip().splitlines()
            raise UserError(f"{self._name} ended: {words[-1] if words else 'it said nothing'}", "mend that, or leave out --slurm")


def _ready(layout: Layout, lab: Lab) -> bool:
    ask = lab.enter(layout.members[0].name, ("sinfo", "--noheader", "--Node", "--format=%t"))
    answer = subprocess.run(ask, capture_output=True, text=True, check=False)
    return answer.stdout.split() == ["idle"] * layout.nodes
