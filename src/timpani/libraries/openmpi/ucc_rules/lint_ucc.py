"""Faults of UCC's configuration: what UCC refuses, ignores, or understands in another way than it seems."""

from collections.abc import Iterator
from itertools import combinations, product

from timpani.errors import printable, shortened
from timpani.libraries.openmpi.ucc_rules.configuration import UccSection, UccSetting, read_configuration
from timpani.libraries.openmpi.ucc_rules.tune_value import TuneToken, parse_value
from timpani.libraries.openmpi.ucc_rules.ucp_algorithms import NAMES
from timpani.libraries.openmpi.ucc_rules.write_ucc import TUNE
from timpani.libraries.tuning_file import Fault, name_fix
from timpani.study.selection import Span, overlap

_WITHOUT_SIZES = ("alltoallv", "gatherv", "scatterv", "barrier", "fanin", "fanout")
"""Collectives whose size all ranks can't know, or that have none: UCC takes 0."""

_MAX_SECTIONS = 200


def lint_configuration(text: str) -> Iterator[Fault]:
    """All faults, from the top."""
    seen: dict[tuple[int, str], int] = {}
    sections: dict[int, UccSection] = {}
    for each in read_configuration(text):
        if isinstance(each, Fault):
            yield each
            continue
        place = (each.section.line, each.name)
        if place in seen:
            what = f"{printable(shortened(each.name, 40))} stands twice, also in line {seen[place]}"
            yield Fault("warning", each.line, what, "one of the two has no effect", "remove one")
        seen[place] = each.line
        if each.name == TUNE:
            sections[each.section.line] = each.section
            for token in parse_value(each.value):
                yield from _of_token(each, token)
            yield from _of_overlaps(each, parse_value(each.value))
    yield from _of_sections([each for line, each in sections.items() if line][:_MAX_SECTIONS])


def _of_token(setting: UccSetting, token: TuneToken) -> Iterator[Fault]:
    line, shown = setting.line, printable(shortened(token.text, 60))
    if token.unreadable or not token.text.strip():
        what = f"{printable(shortened(token.unreadable, 40))!r} in {shown!r} can't be read, is empty, or stands twice"
        yield Fault("error", line, what, "UCC refuses the whole value", "write COLLECTIVE:FIRST-LAST:host:@ALGORITHM")
        return
    if not token.algorithm and not token.score:
        what = f"{shown!r} has neither a score nor an algorithm"
        yield Fault("warning", line, what, "UCC does nothing by it", "add @ALGORITHM, or remove it")
    if token.algorithm and not token.collectives:
        what = f"{shown!r} names an algorithm and no collective"
        yield Fault("error", line, what, "UCC applies it to all collectives, and refuses it", "name the collective")
    for collective in token.collectives if token.algorithm else ():
        names = NAMES[collective]
        number = int(token.algorithm) if token.algorithm.isdecimal() else None
        if token.algorithm not in names and not (number is not None and number < len(names)):
            what = f"TL/UCP has no {collective} algorithm {printable(shortened(token.algorithm, 40))}"
            fix = name_fix(token.algorithm, names, f"choose one of {', '.join(names) or 'the other collectives'}")
            yield Fault("error", line, what, "UCC refuses the whole value", fix)
        if collective in _WITHOUT_SIZES and any(each.first for each in token.sizes):
            what = f"sizes of {collective} in {shown!r}"
            yield Fault("warning", line, what, "UCC takes 0 for the size of every call", "leave the sizes out")


def _of_overlaps(setting: UccSetting, tokens: tuple[TuneToken, ...]) -> Iterator[Fault]:
    """Tokens of one collective that share more than their boundary, or leave one size between them to TL/UCP."""
    chosen = [each for each in tokens if each.algorithm and not each.unreadable]
    for one, other in combinations(chosen[:_MAX_SECTIONS], 2):
        if one.algorithm == other.algorithm or not set(one.collectives) & set(other.collectives):
            continue
        teams = not one.teams or not other.teams or any(overlap(a, b) for a in one.teams for b in other.teams)
        if teams and any(_share(a, b) for a in one.sizes or (Span(),) for b in other.sizes or (Span(),)):
            what = f"{printable(shortened(one.text, 40))!r} and {printable(shortened(other.text, 40))!r} share sizes"
            yield Fault("warning", setting.line, what, "only one of them holds there", "end each before the next")
        for before, after in product(one.sizes, other.sizes) if teams else ():
            if before.first > after.first:
                before, after = after, before
            if before.last is not None and before.last + 1 == after.first:
                what = f"sizes from {after.first} B follow sizes up to {before.last} B"
                consequence = f"UCC begins after the first number, so TL/UCP decides for {after.first} B"
                yield Fault("warning", setting.line, what, consequence, f"begin with {before.last}")


def _share(one: Span, other: Span) -> bool:
    first = max(one.first, other.first)
    return first + 1 in one and first + 1 in other


def _of_sections(sections: list[UccSection]) -> Iterator[Fault]:
    for one, other in combinations(sections, 2):
        spans = ((one.team_size, other.team_size), (one.ppn, other.ppn), (one.nnodes, other.nnodes))
        if one.others == other.others and all(overlap(a, b) for a, b in spans):
            what = f"the section may hold together with that in line {one.line}"
            yield Fault(
                "warning", other.line, what, "UCC takes either, in no fixed order", "make them exclude each other"
            )
