"""The commands that make a layout: bridges and links between them, each link a veth pair, limited at both ends.

The limit is a token bucket filter (tc-tbf(8)) on outgoing traffic. Only the rate is imitated: latency is the kernel's
own, since many kernels lack netem, which could add to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from timpani.lab.layout import SWITCHES, Layout

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
            namespace = layout.namespace(node.name)
            yield from _namespace(namespace)
            yield from _link((switches, node.name), (namespace, "eth0"), layout.link)
            yield from _attach(switches, node.name, switch)
            yield _ip(namespace, "address", "add", f"{node.address}/{_PREFIX_LENGTH}", "dev", "eth0")
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
    yield _ip(namespace, "link", "set", device, "master", bridge)
    yield _set_up(namespace, device)


def _set_up(namespace: str, device: str) -> Step:
    return _ip(namespace, "link", "set", device, "up")


def _ip(namespace: str, *arguments: str) -> Step:
    return Step("network devices", ("ip", "-n", namespace, *arguments))
