"""The component `coll/tuned`: what rules call its collectives and algorithms, and which size they compare; what is
wrong with rules in any format, or with the settings by which the library reads them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from timpani.errors import printable, shortened
from timpani.libraries.catalogue import AlgorithmInfo, Catalogue, Parameter, canonical_names
from timpani.libraries.grid import CommunicatorGroup, SizeChoice, unknown_name
from timpani.libraries.openmpi.settings import Setting, ask_ompi_info, read_settings
from timpani.libraries.tuning_file import Fault
from timpani.native.mpi import Mpi
from timpani.study.cell import DEFAULT, Algorithm
from timpani.study.selection import Call

MAX_LONG = 2**63 - 1
"""Numbers are C's `long`; what says how many ranks, which algorithm and with what is kept as an `int`."""

ALL_IDS = 22
"""Ids there are; those that are not below belong to collectives that coll/tuned leaves to others."""

LEFT_TO_OTHERS = (
    "alltoallw",
    "gatherv",
    "scatterv",
    *(f"neighbor_{name}" for name in ("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw")),
)
"""Collectives that files may name and that neither coll/tuned nor coll/han does."""

_ELEMENT_BYTES = 4
"""Of the elements that scans are measured with: their rules see that, and not how many there are."""


@dataclass(frozen=True)
class Tuned:
    """A collective of coll/tuned.

    unit    which bytes a file's sizes count: the vector's, those of all blocks, ranks × an element's, or none
    unsaid  why its choice can't depend on the size; "": it can
    """

    id: int
    unit: Literal["vector", "blocks", "elements", "nothing"]
    unsaid: str = ""

    def compared(self, call: Call) -> int:
        """The size of `call` that rules compare, in bytes."""
        sizes = {
            "vector": call.message_bytes,
            "blocks": call.ranks * call.message_bytes,
            "elements": call.ranks * _ELEMENT_BYTES,
            "nothing": 0,
        }
        return sizes[self.unit]


_ROOTS_ALONE = "coll/tuned compares arguments that only the root, or only the others, must give, so ranks may differ"
_COUNT_UNSEEN = "coll/tuned compares ranks × the bytes of an element, whatever the count"
_NOTHING_SEEN = "coll/tuned compares no size"

TUNED = {
    "allgather": Tuned(0, "blocks"),
    "allgatherv": Tuned(1, "vector"),  # the blocks' average
    "allreduce": Tuned(2, "vector"),
    "alltoall": Tuned(3, "blocks"),
    "alltoallv": Tuned(4, "nothing", _NOTHING_SEEN),
    "barrier": Tuned(6, "nothing", _NOTHING_SEEN),
    "bcast": Tuned(7, "vector"),
    "exscan": Tuned(8, "elements", _COUNT_UNSEEN),
    "gather": Tuned(9, "blocks", _ROOTS_ALONE),
    "reduce": Tuned(11, "vector"),
    "reduce_scatter": Tuned(12, "vector"),  # what each rank contributes: the sum of the blocks
    "reduce_scatter_block": Tuned(13, "blocks"),
    "scan": Tuned(14, "elements", _COUNT_UNSEEN),
    "scatter": Tuned(15, "blocks", _ROOTS_ALONE),
}

NAMES = {tuned.id: name for name, tuned in TUNED.items()}

ROOTED = ("gather", "scatter")

_HAN = ("allgather", "allreduce", "barrier", "bcast", "gather", "reduce", "scatter")
_HAN_SINCE_6 = ("alltoall", "alltoallv")


def compared(call: Call) -> int:
    """The size of `call` that rules compare, in bytes."""
    return TUNED[call.collective].compared(call)


def han_collectives(numbers: tuple[int, ...]) -> tuple[str, ...]:
    """The collectives that coll/han takes from coll/tuned on several nodes, from 5.0 on, by the version's numbers."""
    return (*_HAN, *(_HAN_SINCE_6 if numbers >= (6,) else ()))


def reads_headers(numbers: tuple[int, ...]) -> bool:
    """Whether this version knows `rule-file-version-N`, and MAXREQ; others take its number for a negative one."""
    return numbers >= (5, 0, 7) or (4, 1, 8) <= numbers < (5,)


TWO_RANKS = "two_proc"
"""An algorithm that refuses any other number of ranks: the call fails."""

_REQUESTS = ("alltoall", "reduce")
"""Collectives whose algorithms take MAXREQ from a rule; scatter has its own from its MCA parameter alone."""

_OF_A_RADIX = (("allgather", "bruck-k-fanout"), ("reduce", "knomial"))
"""Algorithms of 6.0 whose radix is the fan-out: with less than 2 a call never ends, or divides by zero."""

MIN_RADIX = 2

_NAMED_DEFAULT = canonical_names([DEFAULT])[DEFAULT][0]
"""Timpani's name of the algorithm that Open MPI calls `default`."""

_NO_EFFECT = ("fanout", "chain_fanout")
"""Parameters that no other algorithm than `chain` and those of a radix reads, forced or by a file."""


def fields(info: AlgorithmInfo) -> dict[str, Parameter]:
    """The parameters that a rule for this algorithm can set, by the rule's field: `topo`, `segment` or `requests`."""
    where = {"segment_bytes": "segment"}
    if info.name == "chain":
        where["chain_fanout"] = "topo"
    if has_radix(info):
        where["fanout"] = "topo"
    if info.collective in _REQUESTS:
        where["max_requests"] = "requests"
    return {where[each.name]: each for each in info.parameters if each.name in where}


def has_radix(info: AlgorithmInfo) -> bool:
    """Whether a rule's fan-out is the radix of the algorithm, at least MIN_RADIX."""
    return (info.collective, info.name) in _OF_A_RADIX


def library_name(info: AlgorithmInfo) -> str:
    """The library's name of the algorithm, also of the one that it calls `default`."""
    return DEFAULT if info.name == _NAMED_DEFAULT else info.library_name


def written_algorithm(provider: str, info: AlgorithmInfo, values: Mapping[str, int | None]) -> Algorithm:
    """A rule's algorithm, with the parameters that differ from the library's defaults; None: not in the rule."""
    written = {parameter: values[field] for field, parameter in fields(info).items()}
    differing = {each.name: value for each, value in written.items() if value is not None and value != each.default}
    return Algorithm(provider, info.name, tuple(sorted(differing.items())))


def without_effect(info: AlgorithmInfo, name: str) -> bool:
    """Whether the library accepts the parameter and does nothing by it."""
    return name in _NO_EFFECT and name not in (each.name for each in fields(info).values())


REWRITE = "correct it here or above: `timpani tune` writes whole files"

_SWITCH, _FILE = "coll_tuned_use_dynamic_rules", "coll_tuned_dynamic_rules_filename"


@dataclass(frozen=True)
class Dialect:
    """How a format calls things, and what it does about faults.

    unknown   severity and consequence of an unknown algorithm
    only_two  how to limit a rule to 2 ranks
    keys      what it calls a rule's fields
    keyed     whether a field that is not needed can be left out
    """

    unknown: tuple[Literal["error", "warning"], str]
    only_two: str
    keys: Mapping[str, str]
    keyed: bool


def group_faults(
    name: str, groups: Sequence[CommunicatorGroup], catalogue: Catalogue, dialect: Dialect
) -> Iterator[Fault]:
    """Algorithms, parameters and sizes of the collective `name`."""
    yield from unknown_faults(name, groups, catalogue, dialect)
    for group in groups:
        for choice in group.choices:
            if choice.info is None:
                continue
            if choice.info.name == TWO_RANKS and (group.ranks.last is None or group.ranks.last > 2):
                what = f"{TWO_RANKS} runs on 2 ranks only, and the rule holds for more"
                consequence = "the call fails on communicators of other sizes"
                yield Fault("error", choice.line, what, consequence, dialect.only_two)
            yield from _parameter_faults(choice, choice.info, dialect)
        yield from _unsaid_faults(group, name)
    if TUNED[name].unit == "blocks":
        yield from _unit_faults(groups, name)


def unknown_faults(
    name: str, groups: Sequence[CommunicatorGroup], catalogue: Catalogue, dialect: Dialect
) -> Iterator[Fault]:
    """Algorithms that the library lacks."""
    severity, consequence = dialect.unknown
    infos = catalogue.algorithms.get(name, ())
    known = [library_name(each) if dialect.keyed else f"{each.value} {each.name}" for each in infos]
    for choice in (each for group in groups for each in group.choices):
        if choice.named and choice.info is None:
            shown = printable(shortened(choice.named, 40))
            what, fix = unknown_name(shown, known, catalogue.title, name)
            yield Fault(severity, choice.line, what, consequence, fix)


def _parameter_faults(choice: SizeChoice, info: AlgorithmInfo, dialect: Dialect) -> Iterator[Fault]:
    """Fields that the algorithm does not read, and values that it takes for others."""
    read = fields(info)
    for field, value in choice.values.items():
        parameter, key = read.get(field), dialect.keys[field]
        what = f"{library_name(info)} with {key} {value}"
        if parameter is None:
            if value and dialect.keyed:
                yield Fault("warning", choice.line, what, "the algorithm does not read the key", f"remove {key}")
        elif field == "topo" and has_radix(info) and (value or 0) < MIN_RADIX:
            consequence = "it is the algorithm's radix: the call divides by zero, or never ends"
            yield Fault("error", choice.line, what, consequence, f"set {key} to {MIN_RADIX} or more")
        elif field == "topo" and not value:
            consequence = "the library builds it with fan-out 1, which is a pipeline; its default is 4"
            yield Fault("warning", choice.line, what, consequence, f"set {key} to 4")
        elif value is not None and not 0 <= value <= parameter.maximum:
            consequence = "the library does not check the number, and the algorithm takes another one or fails"
            fix = f"write {parameter.minimum} to {parameter.maximum}"
            yield Fault("warning", choice.line, what, consequence, fix)


def _unsaid_faults(group: CommunicatorGroup, name: str) -> Iterator[Fault]:
    """Of choices that differ in sizes, for a collective whose choice can't depend on sizes."""
    unsaid = TUNED[name].unsaid
    chosen = [(each.line if each else group.line, each.algorithm if each else None) for _, each in group.by_size()]
    other = next((line for line, algorithm in chosen if algorithm != chosen[0][1]), None)
    if not unsaid or other is None:
        return
    fix = "choose one algorithm for all sizes"
    if name in ROOTED:
        consequence = "ranks choose different algorithms where a program gives null arguments or MPI_IN_PLACE: "
        consequence += "calls hang, or write outside of their buffers"
        yield Fault("error", other, f"{name}: {unsaid}", consequence, fix)
    else:
        consequence = "rules of other sizes than the first are not for the messages that they seem to be for"
        yield Fault("warning", other, f"{name}: {unsaid}", consequence, fix)


def _unit_faults(groups: Sequence[CommunicatorGroup], name: str) -> Iterator[Fault]:
    """Of sizes that are no totals: totals are multiples of the ranks that they are totals of."""
    fix = "multiply each size with its ranks"
    thresholds = [
        (group.start, [(size, each.line if each else group.line) for size, each in group.by_size() if size])
        for group in groups
    ]
    all_sizes = [[size for size, _ in found] for _, found in thresholds]
    several = {tuple(sizes) for sizes in all_sizes if len(sizes) > 1}
    sized = [(ranks, found) for ranks, found in thresholds if ranks >= 2 and found]
    for ranks, found in sized:
        sizes = [size for size, _ in found]
        small = [size for size in sizes if size < ranks]
        broken = [size for size in sizes if size % ranks and not size & (size - 1)]
        if small:
            what = f"{name}: {small[0]} B over {ranks} ranks are less than a byte for each"
        elif len(broken) == len(sizes):
            what = f"{name}: {sizes[0]} B and all other sizes are powers of two, not divisible by {ranks}"
        elif len(several) == 1 and all_sizes.count(sizes) > 1:
            what = f"{name}: the same sizes for {ranks} ranks as for others"
        else:
            continue
        consequence = f"{name} compares ranks x bytes of a block, so the choice changes at a fraction of the size meant"
        yield Fault("warning", found[0][1], f"{what}: sizes look like those of one block", consequence, fix)
        return
    if sized:  # whole blocks: whether they are those that were meant is unknown
        ranks, found = sized[0]
        size, line = found[-1]
        what = f"{name}: {size} B over {ranks} ranks are blocks of {size // ranks} B"
        yield Fault("note", line, what, f"{name} compares ranks x bytes of a block", f"if others are meant, {fix}")


def setting_faults(collectives: Collection[str], mpi: Mpi) -> Iterator[Fault]:
    """What is set on this computer that keeps a file that chooses in these collectives from deciding."""
    yield from faults_of_settings(collectives, read_settings(ask_ompi_info(mpi, "--param", "coll", "all")), mpi)


def faults_of_settings(collectives: Collection[str], settings: Mapping[str, Setting], mpi: Mpi) -> Iterator[Fault]:
    """The same, by what is set."""
    for name in sorted(collectives):
        forced = settings.get(f"coll_tuned_{name}_algorithm")
        if forced and forced.is_set and forced.value not in ("0", "ignore"):
            what = f"coll_tuned_{name}_algorithm is {forced.value} ({forced.source})"
            wins = "it goes before the file" if mpi.numbers >= (5,) else "it decides wherever the file says 0"
            yield Fault("warning", None, what, wins, f"remove the setting: {name} has rules")
    switch, file = settings.get(_SWITCH), settings.get(_FILE)
    if file and file.is_set and not (switch and switch.value in ("1", "true")):
        what = f"{_FILE} is set ({file.source}) and {_SWITCH} is not"
        yield Fault("error", None, what, "no rules file is read", f"set {_SWITCH} to 1, too")
    if file and file.is_set and not Path(file.value).is_file():
        what = f"{_FILE} is {file.value}, which is no file"
        yield Fault("error", None, what, "no rules file is read, and nothing says so", "write the whole path")
    components = settings.get("coll")
    without = _excluded(components)
    if components and "tuned" in without:
        what = f"coll is {components.value} ({components.source}), without tuned"
        yield Fault("error", None, what, "coll/tuned, which reads the file, is not used", "let tuned in")
    taken = [name for name in han_collectives(mpi.numbers) if name in collectives]
    han_file_switch = settings.get("coll_han_use_dynamic_file_rules")
    if mpi.numbers >= (5,) and taken and "han" not in without and not (han_file_switch and han_file_switch.is_set):
        what = f"on several nodes coll/han does {', '.join(taken)}"
        fix = "for others measure there: `timpani tune` then writes a file for HAN, too; or set coll to ^han"
        yield Fault("note", None, what, "these rules hold on one node only", fix)


def _excluded(components: Setting | None) -> set[str]:
    """Of `tuned` and `han`, those that the parameter `coll` keeps out."""
    if not components or not components.is_set or not components.value.removeprefix("^"):
        return set()
    words = components.value.removeprefix("^").split(",")
    return {name for name in ("tuned", "han") if (name in words) == components.value.startswith("^")}
