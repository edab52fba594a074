"""Slurm in a lab: munged, one slurmctld on the first node, a slurmd on each, and a switch tree."""

import secrets
import subprocess
import time
from pathlib import Path

from timpani.errors import UserError
from timpani.machine.lab.lab import SLURM_CONF, Lab, Layout

PARTITION = "lab"

_SILENCE_SECONDS = 5  # without an answer of a slurmd, its node counts as down and its jobs are requeued
_CREDENTIAL_SECONDS = 5  # lifetime of credentials: a requeued job waits until that of its first start has expired
_SCHEDULING = "batch_sched_delay=0,sched_interval=1,bf_interval=1"
"""Seconds: frequent scheduling costs nothing with few jobs; by default they wait up to a minute."""
_START_SECONDS = 30.0  # until all nodes are idle
_POLL_SECONDS = 0.1


def configuration(layout: Layout, folder: Path) -> dict[str, str]:
    """Slurm's files by name. Processes are neither bound nor confined to cores, since all nodes share them."""
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
AuthInfo=socket={folder / "munge.socket"},cred_expire={_CREDENTIAL_SECONDS}
CredType=cred/munge
StateSaveLocation={folder / "slurmctld"}
SlurmdSpoolDir={folder}/slurmd-%n
SlurmctldPidFile={folder / "slurmctld.pid"}
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters={_SCHEDULING}
TopologyPlugin=topology/tree
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout={_SILENCE_SECONDS}
MessageTimeout=3
TCPTimeout=1
MpiDefault=none
{nodes}PartitionName={PARTITION} Nodes=ALL Default=YES OverSubscribe=FORCE State=UP
""",
        "topology.conf": switches + (f"SwitchName=root Switches={leaves}\n" if layout.groups > 1 else ""),
        "cgroup.conf": f"CgroupPlugin={_cgroup_plugin()}\n",
    }


def _cgroup_plugin() -> str:
    return "cgroup/v2" if Path("/sys/fs/cgroup/cgroup.controllers").exists() else "cgroup/v1"


def start_slurm(layout: Layout, lab: Lab) -> None:
    """Start all daemons and wait until every node accepts jobs; UserError with a daemon's last line if one fails.

    Removing the lab ends them.
    """
    for name, text in configuration(layout, lab.folder).items():
        (lab.folder / name).write_text(text)
    key = lab.folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    first = layout.members[0].name
    files = (f"--{kind}-file={lab.folder / 'munge'}.{kind}" for kind in ("key", "pid", "seed"))
    commands = [
        (first, ("munged", "--foreground", "--force", f"--socket={lab.folder / 'munge.socket'}", *files)),
        (first, ("slurmctld", "-D", "-i")),
        *((node.name, ("slurmd", "-D", "-N", node.name)) for node in layout.members),
    ]
    daemons = [_Daemon(lab, node, command) for node, command in commands]
    deadline = time.monotonic() + _START_SECONDS
    while not _ready(layout, lab):
        late = time.monotonic() > deadline
        for daemon in daemons:
            if late or daemon.ended:
                why = f"{daemon.name} {'waits' if late else 'ended'}: {daemon.last_line}"
                raise UserError(f"Slurm does not start: {why}", "fix that, or omit --slurm")
        time.sleep(_POLL_SECONDS)


class _Daemon:
    """A process on a node that outlives this program and writes its output to a file of the lab."""

    def __init__(self, lab: Lab, node: str, command: tuple[str, ...]) -> None:
        self.name = f"{command[0]}-{node}"
        self._log = lab.folder / f"{self.name}.log"
        with self._log.open("wb") as file:
            self._process = subprocess.Popen(
                lab.enter(node, command), stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True
            )

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def last_line(self) -> str:
        return next(reversed(self._log.read_text(errors="replace").splitlines()), "no output")


def _ready(layout: Layout, lab: Lab) -> bool:
    ask = lab.enter(layout.members[0].name, ("sinfo", "--noheader", "--Node", "--format=%t"))
    answer = subprocess.run(ask, capture_output=True, text=True, check=False)
    return answer.stdout.split() == ["idle"] * layout.nodes
