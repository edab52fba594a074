"""A SimGrid platform on which messages take what they took here."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_LEAST = 1e-12
"""Seconds or seconds a byte in place of a fitted figure under it, which is noise about nothing."""


_ALL_EAGER, _LARGEST = ("send-is-detached-thresh", "async-small-thresh"), 2**31 - 1
"""SimGrid would add two latencies for a handshake; measured times have what handshakes cost in them."""


@dataclass(frozen=True)
class MessageCost:
    """From `first_bytes` on a message of n bytes takes `latency` + `per_byte`·n, seconds and seconds a byte."""

    first_bytes: int
    latency: float
    per_byte: float


def calibrated_platform(name: str, costs: Sequence[MessageCost], nodes: int, cores: int) -> str:
    """The platform file of `nodes` with `cores` each, every two cores as far apart as the pair that was measured.

    `costs` are ascending by size. A message crosses its sender's link and its receiver's, so that each has half of the
    latency; what differs from size to size are SimGrid's factors of latency and of bandwidth. A copy within a
    node takes what each byte of the largest messages does, as those are copied; nothing else takes time.
    """
    latency, per_byte = max(costs[0].latency, _LEAST), max(costs[-1].per_byte, _LEAST)
    starts = [0, *(cost.first_bytes for cost in costs[1:])]
    latency_factors = [max(cost.latency, _LEAST) / latency for cost in costs]
    bandwidth_factors = [per_byte / max(cost.per_byte, _LEAST) for cost in costs]
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
    """SimGrid's `size:factor;…`: each holds from its size on."""
    return ";".join(f"{start}:{factor:.6g}" for start, factor in zip(starts, factors, strict=True))
