"""SimGrid platforms drawn at random: trees of groups, nodes and cores, whose links differ in rate and latency."""

from dataclasses import dataclass

import numpy as np

_LEAST_RANKS = 128


@dataclass(frozen=True)
class Tree:
    """Groups of nodes behind a switch each; latencies in seconds, rates in bytes a second of one direction.

    core, memory  what one core copies, and all of a node together
    port, uplink  of a node, and of a group
    overhead      of a message, for its sender and for its receiver
    eager_bytes   of the largest message that needs no handshake
    """

    groups: int
    nodes: int
    cores: int
    core: float
    memory: float
    port: float
    uplink: float
    core_latency: float
    port_latency: float
    uplink_latency: float
    overhead: float
    eager_bytes: int

    @property
    def platform(self) -> str:
        """The platform file."""
        names = [f"g{group}-n{node}" for group in range(self.groups) for node in range(self.nodes)]
        per_byte = 1 / self.core
        sending = f"0:{self.overhead:.4g}:{per_byte:.4g};{self.eager_bytes + 1}:{self.overhead:.4g}:0"
        lines = [
            "<?xml version='1.0'?>",
            '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
            '<platform version="4.1">',
            "  <config>",
            '    <prop id="smpi/bw-factor" value="0:1"/>',
            '    <prop id="network/crosstraffic" value="no"/>',
            f'    <prop id="smpi/lat-factor" value="0:1;{self.eager_bytes + 16}:3"/>',
            f'    <prop id="smpi/async-small-thresh" value="{self.eager_bytes + 1}"/>',
            f'    <prop id="smpi/send-is-detached-thresh" value="{self.eager_bytes + 1}"/>',
            *(f'    <prop id="smpi/{call}" value="{sending}"/>' for call in ("os", "ois")),
            f'    <prop id="smpi/or" value="0:{self.overhead:.4g}:0"/>',
            "  </config>",
            '  <zone id="cluster" routing="Floyd">',
            *(self._node(name) for name in names),
            *(
                f'    <zone id="{switch}" routing="None"><router id="{switch}-router"/></zone>'
                for switch in (*(f"g{group}-switch" for group in range(self.groups)), "top-switch")
            ),
            *(_link(f"{name}-port", self.port, self.port_latency) for name in names),
            *(_link(f"g{group}-uplink", self.uplink, self.uplink_latency) for group in range(self.groups)),
            *(_route(name, f"{name.split('-')[0]}-switch", f"{name}-port") for name in names),
            *(_route(f"g{group}-switch", "top-switch", f"g{group}-uplink") for group in range(self.groups)),
            "  </zone>",
            "</platform>",
            "",
        ]
        return "\n".join(lines)

    def __str__(self) -> str:
        return (
            f"{self.groups} groups of {self.nodes} nodes of {self.cores} cores; GB/s of a core {self.core / 1e9:.1f}, "
            f"node's memory {self.memory / 1e9:.0f}, port {self.port / 1e9:.1f}, uplink {self.uplink / 1e9:.1f}"
        )

    def _node(self, name: str) -> str:
        return (
            f'    <cluster id="{name}" prefix="{name}-core" suffix="" radical="0-{self.cores - 1}" '
            f'router_id="{name}-router" speed="1Gf" bw="{self.core:.6g}Bps" lat="{self.core_latency:.4g}s" '
            f'bb_bw="{self.memory:.6g}Bps" bb_lat="0s">\n'
            f'      <prop id="node" value="{name}"/>\n'
            f'      <prop id="group" value="{name.split("-")[0]}"/>\n'
            f'      <prop id="memory_bytes_per_s" value="{self.core:.6g}"/>\n'
            "    </cluster>"
        )


def draw(generator: np.random.Generator) -> Tree:
    """A tree with cores for _LEAST_RANKS ranks; rates and latencies are log-uniform."""

    def between(low: float, high: float) -> float:
        return float(np.exp(generator.uniform(np.log(low), np.log(high))))

    cores = int(generator.choice([8, 12, 16, 24, 32]))
    groups = int(generator.choice([1, 2, 3, 4]))
    core, port = between(4e9, 16e9), between(3e9, 25e9)
    return Tree(
        groups=groups,
        nodes=max(2 if groups > 1 else 4, -(-_LEAST_RANKS // (cores * groups))),
        cores=cores,
        core=core,
        memory=core * between(3, 10),
        port=port,
        uplink=port * between(0.5, 4),
        core_latency=between(30e-9, 200e-9),
        port_latency=between(100e-9, 2e-6),
        uplink_latency=between(100e-9, 2e-6),
        overhead=between(50e-9, 400e-9),
        eager_bytes=int(generator.choice([1 << 10, 1 << 12, 1 << 14])),
    )


def _link(name: str, rate: float, latency: float) -> str:
    return f'    <link id="{name}" bandwidth="{rate:.6g}Bps" latency="{latency:.4g}s" sharing_policy="SPLITDUPLEX"/>'


def _route(inner: str, outer: str, link: str) -> str:
    return (
        f'    <zoneRoute src="{inner}" dst="{outer}" gw_src="{inner}-router" gw_dst="{outer}-router">'
        f'<link_ctn id="{link}" direction="UP"/></zoneRoute>'
    )
