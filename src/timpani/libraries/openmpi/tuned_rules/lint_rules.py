"""What is wrong with the rules of one collective: their order, what they reach, their sizes' unit."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from timpani.libraries.openmpi.tuned_rules.collectives import TUNED
from timpani.libraries.openmpi.tuned_rules.parse import CollectiveRules, CommunicatorRule, MessageRule
from timpani.libraries.tuning_file import Fault

_MIN_RANKS = 2
"""Smaller communicators are not coll/tuned's."""

_ROOTED = ("gather", "scatter")


def faults_of_collective(collective: CollectiveRules, name: str, version: int) -> Iterator[Fault]:
    """Of a collective that coll/tuned has."""
    communicators = collective.communicators
    yield from _of_ranks(communicators, name)
    for rule in communicators:
        yield from _of_order(rule)
        yield from faults_of_sizes(rule, name)
        if version == 1:
            yield from _of_fifth_numbers(rule)
    if TUNED[name].unit == "blocks":
        yield from faults_of_unit(communicators, name)


def _of_ranks(communicators: tuple[CommunicatorRule, ...], name: str) -> Iterator[Fault]:
    for rule, following in pairwise(communicators):
        if following.ranks == rule.ranks:
            what = f"{name}: rules for {rule.ranks} ranks stand twice"
            yield Fault("warning", following.line, what, f"those of line {rule.line} are never used", "remove one")
        elif following.ranks < rule.ranks:
            what = f"{name}: {following.ranks} ranks after {rule.ranks}"
            consequence = f"from {rule.ranks} ranks on the smaller one's rules hold, and below it neither's"
            yield Fault("warning", following.line, what, consequence, "sort them by ranks")
        elif following.ranks > 2 * max(rule.ranks, 1) and _chooses(rule):
            what = f"{name}: the rules for {rule.ranks} ranks hold up to {following.ranks - 1} ranks"
            fix = f"put the lines `{rule.ranks + 1} 1` and `0 0 0 0` after them, if {rule.ranks} was measured alone"
            yield Fault("warning", rule.line, what, "a choice for few ranks decides for many", fix)
    if not communicators:
        return
    first, last = communicators[0], communicators[-1]
    if first.ranks > _MIN_RANKS and _chooses(first):
        what = f"{name}: there is no rule for fewer than {first.ranks} ranks"
        fix = "put the lines `0 1` and `0 0 0 0` before it, and count one communicator size more"
        yield Fault("warning", first.line, what, "the first rule holds for smaller communicators, too", fix)
    if _chooses(last):
        what = f"{name}: nothing ends the rules for {last.ranks} ranks"
        fix = f"put the lines `{last.ranks + 1} 1` and `0 0 0 0` after them, and count one communicator size more"
        yield Fault("warning", last.line, what, "they hold for all larger communicators, too", fix)


def _of_order(rule: CommunicatorRule) -> Iterator[Fault]:
    for message, following in pairwise(rule.messages):
        if following.size == message.size:
            what = f"two rules from {message.size} B on"
            yield Fault("warning", message.line, what, "the one that stands last holds", "remove the first")
        elif following.size < message.size:
            what = f"size {following.size} after {message.size}"
            consequence = "the library stops at the first that is too large, so some rules are never reached"
            yield Fault("warning", following.line, what, consequence, "sort them by size, each once")


def faults_of_sizes(rule: CommunicatorRule, name: str) -> Iterator[Fault]:
    """Of rules that differ in sizes, for a collective `name` whose choice can't depend on sizes."""
    unsaid = TUNED[name].unsaid
    other = next((each for each in rule.messages if _choice(each) != _choice(rule.messages[0])), None)
    if not unsaid or other is None:
        return
    if name in _ROOTED:
        consequence = "ranks choose different algorithms where a program gives null arguments or MPI_IN_PLACE: "
        consequence += "calls hang, or write outside of their buffers"
        yield Fault("error", other.line, f"{name}: {unsaid}", consequence, "choose one algorithm for all sizes")
    else:
        consequence = "rules of other sizes than the first are not for the messages that they seem to be for"
        yield Fault("warning", other.line, f"{name}: {unsaid}", consequence, "choose one algorithm for all sizes")


def _of_fifth_numbers(rule: CommunicatorRule) -> Iterator[Fault]:
    for message, following in pairwise(rule.messages):
        if message.line == following.line:
            what = "a line has more than the four numbers of a rule"
            consequence = "without the header of version 2 a fifth is taken for the next rule's size"
            yield Fault("warning", message.line, what, consequence, "begin with rule-file-version-2, or write four")
            return


def faults_of_unit(communicators: Sequence[CommunicatorRule], name: str) -> Iterator[Fault]:
    """Of sizes that are no totals: totals are multiples of the ranks that they are totals of."""
    consequence = f"{name} compares ranks x bytes of a block, so the choice changes at a fraction of the size meant"
    fix = "multiply each size with its ranks"
    thresholds = {rule: tuple(each.size for each in rule.messages if each.size) for rule in communicators}
    sized = {rule: sizes for rule, sizes in thresholds.items() if rule.ranks >= _MIN_RANKS and sizes}
    several = {sizes for sizes in thresholds.values() if len(sizes) > 1}
    for rule, sizes in sized.items():
        small = [size for size in sizes if size < rule.ranks]
        broken = [size for size in sizes if size % rule.ranks and not size & (size - 1)]
        if small:
            what = f"{name}: {small[0]} B over {rule.ranks} ranks are less than a byte for each"
        elif len(broken) == len(sizes):
            what = f"{name}: {sizes[0]} B and all other sizes are powers of two, not divisible by {rule.ranks}"
        elif len(several) == 1 and sum(other == sizes for other in thresholds.values()) > 1:
            what = f"{name}: the same sizes for {rule.ranks} ranks as for others"
        else:
            continue
        first = next(each.line for each in rule.messages if each.size)
        yield Fault("warning", first, f"{what}: sizes look like those of one block", consequence, fix)
        return
    if sized:  # whole blocks: whether they are those that were meant is unknown
        rule, sizes = next(iter(sized.items()))
        what = f"{name}: {sizes[-1]} B over {rule.ranks} ranks are blocks of {sizes[-1] // rule.ranks} B"
        meaning = f"{name} compares ranks x bytes of a block"
        yield Fault("note", rule.messages[-1].line, what, meaning, f"if others are meant, {fix}")


def _choice(message: MessageRule) -> tuple[int, ...]:
    return message.algorithm, message.topo, message.segment, message.requests or 0


def _chooses(rule: CommunicatorRule) -> bool:
    return any(message.algorithm for message in rule.messages)
