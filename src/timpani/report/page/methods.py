"""The paragraph on methods that a reader can paste into a paper."""

from collections.abc import Sequence
from statistics import median
from typing import Any

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import RecordedStudy
from timpani.libraries.registry import LIBRARIES
from timpani.machine.describe import MachineDescription
from timpani.stats.compare import STANDARD, Margins
from timpani.stats.regret import ALPHA
from timpani.stats.sample import LEVEL, median_ranks
from timpani.study.cell import TOGETHER
from timpani.study.operations import OPERATIONS, title_of
from timpani.study.words import counted, per_cent

_MEDIAN = "We report the median of the launches' medians"
_INTERVAL = "distribution-free confidence interval over launches (Hoefler & Belli, SC'15)"
_ROUND_TIME = (
    "The completion time of a call is the time from the first rank's start to the last rank's end on a common "
    "clock. Ranks start at a common deadline (Round-Time; Hunold & Carpen-Amarie, IEEE TPDS 27(12), 2016), late "
    "starts are discarded, and where deadlines can't be kept a dissemination barrier starts them."
)


def methods_paragraph(
    header: Header,
    launches: list[dict[str, Any]],
    warnings: Sequence[str] = (),
    fewest: int | None = None,
    margins: Margins = STANDARD,
) -> str:
    """A description of what was measured and how, from campaign.json and launches.jsonl; what these lack is left out.

    fewest    the number of launches of the cell with the fewest, if known
    margins    by which the verdict judges
    warnings  what the verdict warns of: conditions that a reader of the paper has to know, too
    """
    study = header.study
    sentences = [_subject(header)]
    if header.machine.cluster and header.machine.cluster.simulated:
        sentences.append(_simulation(header.machine, margins))
    else:
        sentences += [
            _osu_protocol(study) if study.method == "osu" else _protocols(study),
            _arrival(study),
            _replication(study, fewest),
            _clock(launches),
            _comparison(study, margins) if study.method == "timpani" and study.launches else "",
            _variants(header) if header.variants else "",
        ]
    sentences += [f"{warning[0].upper()}{warning[1:]}." for warning in warnings]
    return " ".join(sentence for sentence in sentences if sentence)


def _arrival(study: RecordedStudy) -> str:
    if study.arrival == TOGETHER:
        return ""
    return (
        f"Ranks entered each call by the arrival pattern {study.arrival}, injected on their common clock; completion "
        "counts from the last rank's entry."
    )


def _subject(header: Header) -> str:
    study, mpi, machine = header.study, header.mpi, header.machine
    tool = f"Timpani {header.timpani}".strip()
    if not study.launches:
        return f"The times were measured elsewhere and imported by {tool}."
    names = [title_of(name).lower() for name in study.collectives]
    library = f"{LIBRARIES[mpi.kind].name if mpi.kind in LIBRARIES else 'an MPI library'} {mpi.version}".strip()
    count = len(machine.hosts)
    nodes = f" on {count} {'nodes' if count > 1 else 'node'} of {machine.name}" if count else ""
    where = nodes or (f" on {machine.cpu}" if machine.cpu else "")
    where += (" (virtual machines)" if count > 1 else " (a virtual machine)") if machine.virtualized else ""
    counts = [str(count) for count in study.ranks]
    ranks = f" with {_listed(counts)} ranks" if counts else ""
    sizes = study.sizes
    span = f" and messages of {min(sizes)} to {max(sizes)} bytes ({_datatypes(study)})" if sizes else ""
    return f"We timed {_listed(names)} of {library}{where}{ranks}{span}, using {tool}."


def _datatypes(study: RecordedStudy) -> str:
    """`uint8`, or `uint8; float for reduce and allreduce`."""
    others: dict[str, list[str]] = {}
    for name in study.collectives:
        if (own := study.datatype_of(name)) != study.datatype:
            others.setdefault(own, []).append(title_of(name).lower())
    return "; ".join([study.datatype, *(f"{own} for {_listed(names)}" for own, names in others.items())])


def _protocols(study: RecordedStudy) -> str:
    """How each kind of operation in the study was timed."""
    if not study.launches:
        return ""
    kinds = {OPERATIONS[name].kind for name in study.collectives if name in OPERATIONS}
    parts = [
        _ROUND_TIME if kinds != {"point-to-point"} else "",
        _messages(study) if "point-to-point" in kinds else "",
        _ending(study),
    ]
    return " ".join(part for part in parts if part)


def _messages(study: RecordedStudy) -> str:
    each = (
        "each is timed alone"
        if study.repetitions
        else "short ones are timed several in a row, so that a sample is at least 50 clock readings long"
    )
    return (
        "Messages between two ranks are timed by the clock of the rank that begins; exchanges follow each other "
        f"without a barrier, and {each}. Latency is half of a round trip, throughput is in 10⁶ B/s."
    )


def _ending(study: RecordedStudy) -> str:
    fresh = (
        "Each call of an algorithm of Timpani's or a composed one includes its set-up. " if study.include_setup else ""
    )
    if study.repetitions:
        warmup = f" after {study.warmup} warm-up calls" if study.warmup is not None else ""
        were = "was" if study.repetitions == 1 else "were"
        return f"{fresh}{counted(study.repetitions, 'call')}{warmup} {were} timed; no outlier was removed."
    return (
        f"{fresh}Repetitions after warm-up end when the {per_cent(LEVEL)} interval of the median is within "
        f"±{100 * study.precision:g} % or the time slot is spent; cells in which it stayed wider are marked "
        "as not converged. No outlier was removed."
    )


def _simulation(machine: MachineDescription, margins: Margins) -> str:
    return (
        f"All times are simulated, on the platform {machine.name}: messages take time by its latencies, "
        "bandwidths and overheads, computing takes none, and nothing varies. The completion time of a call is the time "
        "from the common start of all ranks to the last rank's end. Two algorithms are said to differ if the ratio of "
        f"their times is outside {margins}."
    )


def _osu_protocol(study: RecordedStudy) -> str:
    fixed = [
        f"{count} {words}"
        for count, words in ((study.warmup, "warm-up calls"), (study.repetitions, "timed calls"))
        if count
    ]
    return (
        "Calls were timed as the OSU micro-benchmarks do: "
        + (f"{_listed(fixed)}, " if fixed else "")
        + "a barrier between calls, and the mean over ranks of each rank's mean time."
    )


def _replication(study: RecordedStudy, fewest: int | None) -> str:
    if not study.launches:
        return ""
    seed = "unknown" if study.seed is None else study.seed
    if study.regret is not None:
        return (
            f"The unit of replication is the launch of the MPI program: up to {counted(study.launches, 'launch')}, "
            f"each in an order shuffled anew (seed {seed}). Algorithms competed in a race that accepts a regret of "
            f"{100 * study.regret:g} %. It began with all algorithms at sizes and rank counts far apart, and dropped "
            "those shown to be slower after each launch. Where neighboring points chose different algorithms, points "
            f"between them were raced too; elsewhere three launches sampled a few algorithms. {_MEDIAN} with a "
            f"{_INTERVAL} that covers at least {per_cent(LEVEL)} from six launches on. The data decided how many "
            "launches measured an algorithm; the interval does not allow for that."
        )
    return (
        f"The unit of replication is the launch of the MPI program: {counted(study.launches, 'launch')}, each with all "
        f"cells in an order shuffled anew (seed {seed}). {_reported(study.launches)}."
        + (f" Some cells have fewer launches, at least {fewest}." if fewest and fewest < study.launches else "")
    )


def _reported(launches: int) -> str:
    """What is reported of `launches` launches, with what its interval covers."""
    if launches == 1:
        return "We report the median of the one launch, which has no interval over launches"
    coverage = median_ranks(launches, level=LEVEL).coverage
    covered = f"{100 * coverage:.1f} % with {launches} launches"
    covers = f"at least {per_cent(LEVEL)} ({covered})" if coverage >= LEVEL else covered
    return f"{_MEDIAN} with a {_INTERVAL} that covers {covers}"


def _clock(launches: list[dict[str, Any]]) -> str:
    errors = [launch["clock_error_ns"] for launch in launches if launch.get("clock_error_ns") is not None]
    floors = [launch["null_ns"] for launch in launches if launch.get("null_ns") is not None]
    parts = [f"the error of the common clock was at most {max(errors):g} ns"] if errors else []
    in_every = f"In every launch {_listed(parts)}." if parts else ""
    empty = f"An empty call took {median(floors):g} ns (median over launches)." if floors else ""
    return " ".join(filter(None, (in_every, empty)))


def _comparison(study: RecordedStudy, margins: Margins) -> str:
    if study.regret is not None:
        return (
            f"Two algorithms are said to differ only if the bounds of the ratio of their times leave "
            f"{margins}; each holds with {per_cent(1 - ALPHA)} "
            "for the best of a point against all others (Hsu, 1984) and for all "
            "interim analyses together. They come from Student's t on launches' log ratios with moderated variances "
            "(Smyth, 2004) and from alpha spending (Lan & DeMets, Biometrika, 1983). They cannot cover a state of "
            "an algorithm that none of its launches showed. The launches that chose an algorithm also estimate its "
            "gain; cross-validation corrects part of that bias (Stone, J. R. Stat. Soc. B, 1974)."
        )
    return (
        "Two algorithms are said to differ only if a test is significant after Holm's correction and the interval of "
        f"the ratio of their times (Hodges–Lehmann) lies outside {margins}; otherwise they are tied. "
        "Interleaved algorithms are tested by the launches' log ratios (Wilcoxon signed-rank test), algorithms in "
        "separate launches by their launch medians (rank-sum test)."
    )


def _variants(header: Header) -> str:
    """How the library's settings were compared."""
    names = _listed(list(header.variants or {}))
    return (
        f"Settings of the library were compared as variants ({names}) in a randomized complete block design: each "
        "launch number started every variant once, in random order. Two variants are compared by their ratios within "
        "these blocks (Wilcoxon signed-rank test, Hodges–Lehmann)."
    )


def _listed(parts: list[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)
