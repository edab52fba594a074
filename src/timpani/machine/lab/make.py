"""Makes and removes labs; after an interruption, the next command finds everything that was left.

Slurm in a lab: munged, one slurmctld on the first node, a slurmd on each, and a switch tree.
"""

import fcntl
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from timpani.errors import UserError, cannot_lock
from timpani.machine.lab.lab import (
    HOSTS,
    LABS,
    LAYOUT,
    SLURM_CONF,
    SWITCHES,
    Lab,
    Layout,
    labs,
    scripts,
    search_environment,
)

PARTITION = "lab"

_SILENCE_SECONDS = 5  # without an answer of a slurmd, its node counts as down and its jobs are requeued
_CREDENTIAL_SECONDS = 5  # lifetime of credentials: a requeued job waits until that of its first start has expired
_SCHEDULING = "batch_sched_delay=0,sched_interval=1,bf_interval=1"
"""Seconds: frequent scheduling costs nothing with few jobs; by default they wait up to a minute."""
_START_SECONDS = 30.0  # until all nodes are idle
_SLURM_POLL_SECONDS = 0.1


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
        time.sleep(_SLURM_POLL_SECONDS)


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


_ROOT_SWITCH = "root"  # where groups meet
_PREFIX_LENGTH = 16
_BURST_SECONDS = 1e-3  # of traffic as a burst: one tick of a 1 kHz timer
_MIN_BURST = 2**12  # bytes: two packets; tbf divides larger segments from TCP
_QUEUE = "200ms"  # maximum delay of a packet; later packets are dropped


@dataclass(frozen=True)
class Step:
    """A command, and the kernel feature that it needs."""

    feature: str
    argv: tuple[str, ...]


def burst_bytes(rate: int) -> int:
    """Bytes that a link of `rate` bits per second passes at once, without delay."""
    return max(_MIN_BURST, round(rate / 8 * _BURST_SECONDS))


def steps(layout: Layout) -> Iterator[Step]:
    """All commands, in an order that satisfies their dependencies."""
    switches = layout.namespace(SWITCHES)
    yield from _namespace(switches)
    if layout.groups > 1:
        yield from _bridge(switches, _ROOT_SWITCH)
    for number in range(1, layout.groups + 1):
        switch = f"g{number}"
        yield from _bridge(switches, switch)
        if layout.groups > 1:
            up, down = f"{switch}-up", f"{switch}-down"
            yield from _link((switches, down), (switches, up), layout.uplink)
            yield from _attach(switches, down, _ROOT_SWITCH)
            yield from _attach(switches, up, switch)
        for node in layout.group(number):
            rate = layout.link_of(layout.members.index(node))
            namespace = layout.namespace(node.name)
            yield from _namespace(namespace)
            yield from _link((switches, node.name), (namespace, "eth0"), rate)
            yield from _attach(switches, node.name, switch)
            yield _ip_step(namespace, "address", "add", f"{node.address}/{_PREFIX_LENGTH}", "dev", "eth0")
            yield _set_up(namespace, "eth0")


def _namespace(name: str) -> Iterator[Step]:
    yield Step("network namespaces", ("ip", "netns", "add", name))
    yield _set_up(name, "lo")


def _bridge(namespace: str, name: str) -> Iterator[Step]:
    yield Step("bridges", ("ip", "-n", namespace, "link", "add", name, "type", "bridge"))
    yield _set_up(namespace, name)


def _link(one: tuple[str, str], other: tuple[str, str], rate: int) -> Iterator[Step]:
    (here, name), (there, peer) = one, other
    pair = ("ip", "-n", here, "link", "add", name, "type", "veth", "peer", "name", peer, "netns", there)
    yield Step("veth pairs", pair)
    for namespace, device in (one, other):
        shape = ("tbf", "rate", f"{rate}bit", "burst", str(burst_bytes(rate)), "latency", _QUEUE)
        yield Step("traffic shaping by tbf", ("tc", "-n", namespace, "qdisc", "add", "dev", device, "root", *shape))


def _attach(namespace: str, device: str, bridge: str) -> Iterator[Step]:
    yield _ip_step(namespace, "link", "set", device, "master", bridge)
    yield _set_up(namespace, device)


def _set_up(namespace: str, device: str) -> Step:
    return _ip_step(namespace, "link", "set", device, "up")


def _ip_step(namespace: str, *arguments: str) -> Step:
    return Step("network devices", ("ip", "-n", namespace, *arguments))


_GRACE_SECONDS = 2.0  # between SIGTERM and SIGKILL
_POLL_SECONDS = 0.02
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def check_root() -> None:
    """UserError without permission to make namespaces and enter them."""
    if os.geteuid() != 0:
        raise UserError(
            "a lab consists of network namespaces, which only root can create", "run it as root: `sudo timpani lab …`"
        )


def up(layout: Layout) -> Lab:
    """Make the lab of `layout`, after removing leftovers of killed commands.

    If a step fails (UserError), or a signal ends the program, no lab is left.
    """
    with _locked(), _ending_cleanly():
        for lab in labs():
            if lab.leftover:
                _take_down(lab)
        unfinished = Lab(layout.lab, None)
        unfinished.folder.mkdir()
        try:
            _make(layout, unfinished)
        except BaseException:
            _take_down(unfinished)
            raise
    return Lab(layout.lab, layout)


def down(lab: Lab) -> None:
    """End all processes of `lab`, and remove everything of it."""
    with _locked():
        _take_down(lab)


@contextmanager
def _locked() -> Iterator[None]:
    """Allow one process at a time to make or remove labs: an incomplete lab is then a leftover."""
    LABS.mkdir(parents=True, exist_ok=True)
    lock = os.open(LABS, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError as error:
            raise cannot_lock(LABS, error, "mount a file system with locks there, such as tmpfs") from None
        yield
    finally:
        os.close(lock)


def _make(layout: Layout, lab: Lab) -> None:
    (lab.folder / HOSTS).write_text(layout.hosts)
    for name, text in scripts(layout, lab.folder).items():
        (lab.folder / name).write_text(text)
        (lab.folder / name).chmod(0o755)
    for step in steps(layout):
        _run_step(step)
    _run_step(Step("host names and mounts of a process's own", lab.enter(layout.members[0].name, ("true",))))
    if layout.slurm:
        start_slurm(layout, lab)
    unfinished = lab.folder / f"{LAYOUT}.new"
    unfinished.write_text(layout.model_dump_json(indent=1) + "\n")
    unfinished.rename(lab.folder / LAYOUT)


@contextmanager
def _ending_cleanly() -> Iterator[None]:
    """Raise SystemExit at the first terminating signal, and ignore others during the cleanup."""

    def end(number: int, _frame: FrameType | None) -> None:
        for each in _ENDING:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)  # the exit status by a shell's convention

    before = {number: signal.signal(number, end) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run_step(step: Step) -> None:
    done = subprocess.run(step.argv, env=search_environment(), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = next(iter(done.stderr.splitlines()), f"exit status {done.returncode}")
        raise UserError(
            f"this system refuses {step.feature}, which a lab needs (`{' '.join(step.argv)}`: {said})",
            "use a machine whose kernel has them and allows root to create them; many containers do not",
        )


def _take_down(lab: Lab) -> None:
    (lab.folder / LAYOUT).unlink(missing_ok=True)
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + _GRACE_SECONDS
        while (pids := _processes(lab)) and time.monotonic() < deadline:
            for pid in pids:
                with suppress(ProcessLookupError):  # it has ended
                    os.kill(pid, number)
            time.sleep(_POLL_SECONDS)
    if pids:
        raise UserError(f"processes of lab {lab.id} do not end: {', '.join(map(str, pids))}", "try again later")
    for namespace in lab.namespaces:
        _ip("netns", "delete", namespace)
    shutil.rmtree(lab.folder, ignore_errors=True)


def _processes(lab: Lab) -> list[int]:
    """All processes on the lab's nodes."""
    pids: list[int] = []
    for namespace in lab.namespaces:
        pids += map(int, _ip("netns", "pids", namespace).split())
    return pids


def _ip(*arguments: str) -> bytes:
    """What `ip` prints."""
    found = subprocess.run(("ip", *arguments), env=search_environment(), stdout=subprocess.PIPE, check=True)  # noqa: S607
    return found.stdout
