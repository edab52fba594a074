"""Faults of a rules file: errors, and rules that do something else than they seem to."""

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from timpani.errors import printable
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue
from timpani.libraries.openmpi.tuned_rules.collectives import NAMES, TWO_RANKS
from timpani.libraries.openmpi.tuned_rules.lint_rules import faults_of_collective
from timpani.libraries.openmpi.tuned_rules.parse import IGNORED, CollectiveRules, RulesFile, reads_headers
from timpani.libraries.openmpi.tuned_rules.read import known_algorithms, unknown_algorithms
from timpani.libraries.openmpi.tuned_rules.set_elsewhere import faults_of_settings
from timpani.libraries.tuning_file import Fault, first_faults
from timpani.native.mpi import Mpi
from timpani.study.words import counted

_HEADER = "rule-file-version-"
_PERSONS_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]{1,16}|\d{1,40})", re.ASCII)
_OCTAL = re.compile(r"[+-]?0\d", re.ASCII)
_MAX_SHOWN = 20
"""Faults of one kind in the text; more say nothing new."""


def lint(text: str, catalogue: Catalogue, mpi: Mpi) -> Iterator[Fault]:
    """As `TuningFile.lint`."""
    headers = reads_headers(mpi.numbers)
    said = RulesFile(text, headers)
    if over := said.runs_over:  # the cause before its consequences
        what = f"a rule begins in line {over.line} and ends in line {over.last_line}"
        consequence = "the library takes the numbers after it for others, or ignores the file"
        severity: Literal["error", "warning"] = "error" if said.gave_up or said.rest else "warning"
        fix = f"correct the count in line {over.count_line}, which announces {counted(over.announced, 'rule')} "
        fix += f"where {over.before} {'stands' if over.before == 1 else 'stand'}, or one above"
        yield Fault(severity, over.line, what, consequence, fix)
    yield from _of_header(text, said, headers, mpi)
    yield from _of_words(said)
    of_rules = [each for each in _of_rules(said, catalogue) if not over or (each.line or 0) < over.count_line]
    yield from first_faults(of_rules)
    yield from faults_of_settings({NAMES[each.id] for each in said.collectives if _chooses(each)}, mpi)


def _of_rules(said: RulesFile, catalogue: Catalogue) -> Iterator[Fault]:
    yield from _of_ids(said, catalogue)
    for collective in said.collectives:
        if collective.id in NAMES:
            yield from faults_of_collective(collective, NAMES[collective.id], said.version)


def _of_header(text: str, said: RulesFile, headers: bool, mpi: Mpi) -> Iterator[Fault]:
    at = text.find(_HEADER)
    begins_line = at >= 0 and not text[text.rfind("\n", 0, at) + 1 : at].strip().startswith("#")
    line = text.count("\n", 0, at) + 1
    if begins_line and not headers:
        what = f"{mpi.name} {mpi.version} knows no header, and takes its number for a negative one"
        fix = "remove the header, and each rule's fifth number; 4.1.8 and 5.0.7 are the first that read them"
        yield Fault("error", line, what, IGNORED, fix)
    elif begins_line and at > 0:
        yield Fault("error", line, "the header is not the file's first bytes", IGNORED, "move it there")
    else:
        yield from said.gave_up[:_MAX_SHOWN]
    if begins_line and headers and at == 0 and not 1 <= said.version <= 2:
        what = f"there is no version {said.version} of the format"
        yield Fault("warning", 1, what, "versions over 2 are read as 2, others as 1", f"write {_HEADER}2")
    if said.rest is not None:
        consequence = "what follows here is not read"
        what = "there are more numbers than the collectives announced need"
        yield Fault("warning", said.rest, what, consequence, "correct the number of collectives, or of rules")


def _of_words(said: RulesFile) -> Iterator[Fault]:
    for number in said.numbers[:_MAX_SHOWN]:
        if _shown_value(number.written) == number.value:
            continue
        octal = _OCTAL.match(number.written) is not None
        what = f"{printable(number.written)} is read as {number.value}{' (octal, as in C)' if octal else ''}"
        yield Fault("warning", number.line, what, "the rule is for another number than it shows", "write it in decimal")
    for line, word in said.words[:_MAX_SHOWN]:
        if not word.startswith(_HEADER):
            what = f"{word!r} stands outside of a comment"
            yield Fault("warning", line, what, "letters are read over, and digits in them count", "put # before it")


def _shown_value(written: str) -> int | None:
    """What a person reads: `00` and `+0` are zero, `0x10` is 16; None where it is no number."""
    if not _PERSONS_NUMBER.fullmatch(written):
        return None
    return int(written, 16 if "x" in written.lower() else 10)


def _of_ids(said: RulesFile, catalogue: Catalogue) -> Iterator[Fault]:
    algorithms = known_algorithms(catalogue)
    seen: dict[int, int] = {}
    for collective in said.collectives:
        if collective.id in seen:
            what = f"collective {collective.id} has rules in line {seen[collective.id]} already"
            yield Fault("warning", collective.line, what, "only the last are used", "remove one of the two")
        seen[collective.id] = collective.line
        name = NAMES.get(collective.id, "")
        if name not in algorithms:
            what = f"coll/tuned leaves collective {collective.id} to others"
            yield Fault("warning", collective.line, what, "its rules do nothing", "remove them")
            continue
        known = algorithms[name]
        yield from _of_two_ranks(collective, known)
        yield from unknown_algorithms(collective, catalogue)
        for message in (each for rule in collective.communicators for each in rule.messages):
            if message.algorithm in known and known[message.algorithm].name == "chain" and not message.topo:
                what = "a chain with fan-out 0"
                consequence = "it has fan-out 1, which is a pipeline; the library's default is 4"
                yield Fault("warning", message.line, what, consequence, "write the fan-out as the third number")


def _of_two_ranks(collective: CollectiveRules, known: Mapping[int, AlgorithmInfo]) -> Iterator[Fault]:
    ends = [*(rule.ranks for rule in collective.communicators[1:]), None]
    for rule, end in zip(collective.communicators, ends, strict=False):
        for message in rule.messages if rule.ranks > 2 or end is None or end > 3 else ():
            if message.algorithm in known and known[message.algorithm].name == TWO_RANKS:
                what = f"{TWO_RANKS} runs on 2 ranks alone, and the rule holds for more"
                fix = "have it in the rules for 2 ranks, and put the lines `3 1` and `0 0 0 0` after them"
                yield Fault("error", message.line, what, "the call fails on communicators of other sizes", fix)


def _chooses(collective: CollectiveRules) -> bool:
    """Whether it makes coll/tuned choose anything."""
    messages = (each for rule in collective.communicators for each in rule.messages)
    return collective.id in NAMES and any(each.algorithm for each in messages)
