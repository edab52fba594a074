"""The cores of this machine, and how many of them this process may use."""

import json
import os
import shutil
import subprocess
import time
from collections import defaultdict
from collections.abc import Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from timpani.machine.nodes.locality import Domains


@dataclass(frozen=True)
class Cores:
    """Physical cores; hardware threads of one core count once.

    present     in the whole machine
    allowed     by the affinity mask of this process
    quota       number of CPUs that its control group may use; None if unlimited
    hypervisor  vendor of the virtual machine; None on bare metal
    domains     the CPUs of each core, last-level cache and socket, as far as lscpu shows them
    """

    model: str
    present: int
    allowed: int
    quota: float | None
    sockets: int
    numa_nodes: int
    threads_per_core: int
    hypervisor: str | None
    domains: Domains = field(default_factory=dict)

    @property
    def usable(self) -> int:
        """Maximum of ranks without sharing a core or being throttled by the control group."""
        return self.allowed if self.quota is None else max(1, min(self.allowed, int(self.quota)))

    @property
    def caches(self) -> int | None:
        """Number of last-level caches; None unless all have equally many cores and all sockets equally many caches."""
        parts = self.domains.get("last_level_cache", ())
        equal = len({len(part) for part in parts}) == 1 and sum(map(len, parts)) == self.present * self.threads_per_core
        return len(parts) if equal and len(parts) % self.sockets == 0 else None


def read_cores() -> Cores:
    """The cores as lscpu (util-linux) describes them; without it, each CPU counts as a core."""
    affinity = os.sched_getaffinity(0)
    summary = _lscpu("-J")
    table = _lscpu("-J", "-e=CPU,CORE,SOCKET,NODE,CACHE")
    if not summary or not table:
        every = os.cpu_count() or len(affinity)
        return Cores("unknown", every, len(affinity), cpu_quota(), 1, 1, 1, None)
    return parse_cores(summary, table, affinity, cpu_quota())


def parse_cores(summary: str, table: str, affinity: Set[int], quota: float | None) -> Cores:
    """`summary` is what `lscpu -J` prints, `table` what `lscpu -J -e=CPU,CORE,SOCKET,NODE,CACHE` prints."""
    fields = _flatten(json.loads(summary)["lscpu"])
    core_of, sockets, nodes = {}, set(), set()
    for cpu in json.loads(table)["cpus"]:
        core_of[int(cpu["cpu"])] = str(cpu["core"])  # lscpu numbers cores through all sockets
        sockets.add(str(cpu.get("socket")))  # all equal, `-` or missing if the machine has no sockets
        nodes.add(str(cpu.get("node")))
    present = set(core_of.values())
    return Cores(
        model=fields.get("Model name", "unknown"),
        present=len(present),
        allowed=len({core for cpu, core in core_of.items() if cpu in affinity}),
        quota=quota,
        sockets=len(sockets),
        numa_nodes=len(nodes),
        threads_per_core=len(core_of) // len(present),
        hypervisor=fields.get("Hypervisor vendor"),
        domains=_domains(json.loads(table)["cpus"]),
    )


def _domains(cpus: list[dict[str, Any]]) -> Domains:
    """The CPUs by core, last-level cache and socket. `l1d:l1i:l2:l3` holds each CPU's caches: `4:4:4:1`."""
    parts: defaultdict[str, defaultdict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for cpu in cpus:
        caches = next((str(value) for name, value in cpu.items() if name.startswith("l1")), "")
        numbers = {"core": cpu["core"], "last_level_cache": caches.rpartition(":")[2], "socket": cpu.get("socket")}
        for level, number in numbers.items():
            if str(number).isdigit():
                parts[level][str(number)].add(int(cpu["cpu"]))
    return {level: tuple(frozenset(part) for part in each.values()) for level, each in parts.items()}


def _flatten(fields: list[dict[str, Any]]) -> dict[str, str]:
    """Newer lscpu nests its fields: a socket's model under the vendor's."""
    flat: dict[str, str] = {}
    for each in fields:
        if each["data"] is not None:
            flat[each["field"].rstrip(":")] = str(each["data"])
        flat |= _flatten(each.get("children", []))
    return flat


def _lscpu(*arguments: str) -> str:
    program = shutil.which("lscpu")
    if program is None:
        return ""
    answer = subprocess.run(
        [program, *arguments], capture_output=True, text=True, check=False, env=os.environ | {"LC_ALL": "C"}
    )
    return answer.stdout if answer.returncode == 0 else ""


def cpu_quota(root: Path = Path("/")) -> float | None:
    """The number of CPUs that the control groups allow, the minimum over all levels; None without a limit."""
    limits = []
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", maxsplit=2)  # `0::/user.slice`, or in version 1 `4:cpu,cpuacct:/batch`
        if controllers == "":
            mounts, read = ["sys/fs/cgroup", "sys/fs/cgroup/unified"], _version_2
        elif "cpu" in controllers.split(","):
            mounts, read = ["sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"], _version_1
        else:
            continue
        group = Path(path.lstrip("/"))
        limits += [read(root / mount / each) for mount in mounts for each in (group, *group.parents)]
    return min((limit for limit in limits if limit is not None), default=None)


def _version_2(folder: Path) -> float | None:
    """cpu.max holds `200000 100000`: microseconds of processor time in each period; or `max 100000`."""
    for line in _lines(folder / "cpu.max"):
        quota, period = line.split()
        return None if quota == "max" else int(quota) / int(period)
    return None


def _version_1(folder: Path) -> float | None:
    quota, period = _lines(folder / "cpu.cfs_quota_us"), _lines(folder / "cpu.cfs_period_us")
    return int(quota[0]) / int(period[0]) if quota and period and int(quota[0]) > 0 else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:  # kernels and containers may lack it
        return []


_STAT = Path("/proc/stat")


def busy_cores(seconds: float = 1.0) -> float:
    """Cores that were busy on average in the next `seconds`, while this process sleeps.

    A load average needs no wait, but covers the last minute, in which Timpani itself may have worked.
    """
    before, began = busy_seconds(_STAT.read_text()), time.monotonic()
    time.sleep(seconds)
    return (busy_seconds(_STAT.read_text()) - before) / (time.monotonic() - began)


def busy_seconds(stat: str) -> float:
    """Processor seconds used by all processes since boot, from /proc/stat, without the hypervisor's."""
    user, nice, system, _idle, _iowait, interrupts, soft_interrupts = map(int, stat.split()[1:8])
    return (user + nice + system + interrupts + soft_interrupts) / os.sysconf("SC_CLK_TCK")
