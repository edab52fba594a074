"""The machine as recorded in a campaign."""

import platform
import re
from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict

from timpani.errors import printable
from timpani.libraries.library import Host, HostList
from timpani.machine.cores import read_cores
from timpani.machine.lab.lab import parse_rate
from timpani.machine.launchers import links
from timpani.machine.nodes.host_list import same_host
from timpani.machine.nodes.locality import Domains
from timpani.machine.nodes.model import Machine, fold_numbers, parse_cpus


def _cpus(text: str) -> str:
    parse_cpus(text)
    return text


Printable = Annotated[str, AfterValidator(printable)]


class MachineDescription(BaseModel):
    """The recorded machine: for readers, and for comparing the machines of two campaigns.

    The fields up to `domains` describe the computer where the campaign was started, if it is the machine or one of its
    nodes. With `--on` there are also all keys of the machine file, the used nodes, and for a lab the rates of its
    links. Campaigns of other versions, and imported ones, may have more or fewer fields: an unset field is unknown.

    smt      hardware threads per core
    domains  the CPUs of each part by level, in Linux notation
    hosts    the used nodes, in order
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    name: Printable = ""
    cpu: Printable = ""
    cores: int | None = None
    sockets: int | None = None
    numa: int | None = None
    smt: int | None = None
    kernel: Printable = ""
    virtualized: bool | None = None
    governor: Printable | None = None
    domains: dict[str, tuple[Annotated[str, AfterValidator(_cpus)], ...]] = {}
    hosts: HostList = ()
    link: str | None = None
    uplink: str | None = None
    link_burst: int | None = None
    uplink_burst: int | None = None

    @cached_property
    def cluster(self) -> Machine | None:
        """The machine file of `--on`; None if the study ran on this computer. UserError if it is invalid."""
        fields = {key: value for key, value in self if key in Machine.model_fields}
        return Machine.check(fields, "campaign.json") if "groups" in fields else None

    @property
    def link_rates(self) -> dict[str, float]:
        """Bytes per microsecond of the links of a lab, by the names `link` and `uplink`; empty for other machines."""
        return {name: parse_rate(rate) / 8e6 for name, rate in (("link", self.link), ("uplink", self.uplink)) if rate}

    @property
    def bursts(self) -> tuple[float, float, float]:
        """Bytes that pass at once after idle time: memory, a node's link, a group's uplink; 0 without a burst."""
        return (0.0, float(self.link_burst or 0), float(self.uplink_burst or 0))

    def domains_of(self, host: str) -> Domains:
        """The parts of `host`; empty unless it is the described machine."""
        if host != self.name:
            return {}
        return {level: [parse_cpus(part) for part in parts] for level, parts in self.domains.items()}


def describe_machine() -> MachineDescription:
    """Describe this computer."""
    return MachineDescription.model_validate(_this_computer())


def describe_cluster(machine: Machine, hosts: Sequence[Host]) -> MachineDescription:
    """Describe `machine`, used on `hosts`; with the processor if this computer is one of them."""
    in_lab = machine.launcher == "lab"
    here = in_lab or any(same_host(host.name, platform.node()) for host in hosts)
    return MachineDescription.model_validate(
        {
            **(_this_computer() if here else {}),
            **machine.model_dump(mode="json", exclude_defaults=True),
            "hosts": [asdict(host) for host in hosts],
            **(links(machine) if in_lab else {}),
        }
    )


def _this_computer() -> dict[str, Any]:
    cores = read_cores()
    return {
        "name": platform.node(),
        "cpu": cores.model,
        "cores": cores.present,
        "sockets": cores.sockets,
        "numa": cores.numa_nodes,
        "smt": cores.threads_per_core,
        "kernel": f"{platform.system()} {platform.release()} {platform.machine()}",
        "virtualized": cores.hypervisor is not None,
        "governor": frequency_governor(),
        "domains": {level: [fold_numbers(part) for part in parts] for level, parts in cores.domains.items()},
    }


def frequency_governor(root: Path = Path("/")) -> str | None:
    """The kernel's frequency governor; all names if cores differ; None without a governor."""
    files = (root / "sys/devices/system/cpu").glob("cpu[0-9]*/cpufreq/scaling_governor")
    return "+".join(sorted({file.read_text().strip() for file in files})) or None


_STATED = re.compile(r"@ ?(\d+(?:\.\d+)?) ?GHz")


def nominal_clock_ghz(cpu: str) -> float | None:
    """GHz in a processor's name such as `Xeon X5660 @ 2.80GHz`; None if it has no rate.

    It is the nominal rate, not necessarily the actual one.
    """
    found = _STATED.search(cpu)
    return float(found[1]) if found else None
