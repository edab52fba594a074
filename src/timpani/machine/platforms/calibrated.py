"""Writes a SimGrid platform with the message times measured on a machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_MIN = 1e-12
"""Minimum in seconds, or seconds per byte, for fitted values near 0."""


_ALL_EAGER, _LARGEST = ("send-is-detached-thresh", "async-small-thresh"), 2**31 - 1
"""Makes SimGrid add no latency for handshakes: measured times include it."""


@dataclass(frozen=True)
class MessageCost:
    """Cost of a message of n bytes from `first_bytes` on: `latency` + `per_byte`·n, seconds and seconds per byte."""

    first_bytes: int
    latency: float
    per_byte: float


def calibrated_platform(name: str, costs: Sequence[MessageCost], nodes: int, cores: int) -> str:
    """The platform file of `nodes` nodes with `cores` cores each, every two cores as distant as the measured pair.

    `costs` are ascending by size. A message crosses its sender's and its receiver's link, so each has half of the
    latency; SimGrid's factors of latency and bandwidth give the dependence on size. A copy within a node takes the
    per-byte time of the largest messages; nothing else takes time.
    """
    latency, per_byte = max(costs[0].latency, _MIN), max(costs[-1].per_byte, _MIN)
    starts = [0, *(cost.first_bytes for cost in costs[1:])]
    latency_factors = [max(cost.latency, _MIN) / latency for cost in costs]
    bandwidth_factors = [per_byte / max(cost.per_byte, _MIN) for cost in costs]
    clusters = "\n".join(_cluster(f"node{number}", cores, latency / 2, 1 / per_byte) for number in range(1, nodes + 1))
    routes = "\n".join(
        f'    <zoneRoute src="node{a}" dst="node{b}" gw_src="node{a}-router" gw_dst="node{b}-router">'
        '<link_ctn id="switch"/></zoneRoute>'
        for a in range(1, nodes + 1)
        for b in range(a + 1, nodes + 1)
    )
    return "\n".join(
        [
            "<?xml version='1.0'?>",
            '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
            f"<!-- Calibrated by the latency of messages between two ranks of {escape(name).replace('--', '- -')}. -->",
            '<platform version="4.1">',
            "  <config>",
            f'    <prop id="smpi/lat-factor" value="{_factors(starts, latency_factors)}"/>',
            f'    <prop id="smpi/bw-factor" value="{_factors(starts, bandwidth_factors)}"/>',
            '    <prop id="network/crosstraffic" value="no"/>',
            *(f'    <prop id="smpi/{each}" value="0:0:0"/>' for each in ("os", "ois", "or")),
            *(f'    <prop id="smpi/{each}" value="{_LARGEST}"/>' for each in _ALL_EAGER),
            "  </config>",
            '  <zone id="cluster" routing="Full">',
            clusters,
            '    <link id="switch" bandwidth="1EBps" latency="0s" sharing_policy="FATPIPE"/>',
            *([routes] if routes else []),
            "  </zone>",
            "</platform>",
            "",
        ]
    )


def _cluster(node: str, cores: int, latency: float, bandwidth: float) -> str:
    return (
        f'    <cluster id="{node}" prefix="{node}-core" suffix="" radical="0-{cores - 1}" router_id="{node}-router"\n'
        f'             speed="1Gf" bw="{bandwidth:.6g}Bps" lat="{latency:.6g}s">\n'
        f'      <prop id="node" value="{node}"/>\n'
        f'      <prop id="memory_bytes_per_s" value="{bandwidth:.6g}"/>\n'
        "    </cluster>"
    )


def _factors(starts: Sequence[int], factors: Sequence[float]) -> str:
    """SimGrid's `size:factor;…`; each factor is valid from its size on."""
    return ";".join(f"{start}:{factor:.6g}" for start, factor in zip(starts, factors, strict=True))
