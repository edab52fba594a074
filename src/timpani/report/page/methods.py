"""The paragraph on methods that a reader can paste into a paper."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median
from typing import Any

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import MergedCampaign, RecordedStudy
from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.campaign_warnings import MachineLoad, machine_loads
from timpani.libraries.outside_settings import described
from timpani.libraries.registry import LIBRARIES
from timpani.machine.describe import MachineDescription
from timpani.machine.nodes.model import fold, fold_numbers
from timpani.stats.compare import STANDARD, Margins
from timpani.stats.regret import ALPHA
from timpani.stats.sample import LEVEL, median_ranks
from timpani.study.cell import TOGETHER
from timpani.study.operations import OPERATIONS, title_of
from timpani.study.sizes import show_size
from timpani.study.words import counted, per_cent

_MEDIAN = "We report the median of the launches' medians"
_INTERVAL = "distribution-free confidence interval over launches (Hoefler & Belli, SC'15)"
_COMPLETION = "The completion time of a call is the time from the common start of all ranks to the last rank's end."
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
        sentences += [_simulation(header.machine), _osu_protocol(study) if study.method == "osu" else _COMPLETION]
        sentences.append(f"Two algorithms are said to differ if the ratio of their times is outside {margins}.")
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


def _simulation(machine: MachineDescription) -> str:
    return (
        f"All times are simulated, on the platform {machine.name}: messages take time by its latencies, "
        "bandwidths and overheads, computing takes none, and nothing varies."
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


_MAX_LAUNCHES = 12  # whose command and binding are shown


def facts(header: Header) -> list[tuple[str, str]]:
    """Machine, library, date and command of a campaign, without values that campaign.json does not record."""
    machine, mpi = header.machine, header.mpi
    nodes = counted(len(machine.hosts), "node") if machine.hosts else ""
    cores = counted(machine.cores, "core") if machine.cores else ""
    virtual = "virtual" if machine.virtualized else ""
    found = [
        ("Machine", ", ".join(filter(None, (machine.name, machine.cpu, nodes or cores, virtual)))),
        ("Library", mpi.title),
        ("Variants", ", ".join(header.variants or {})),
        ("Date", (header.created or "")[:10]),
        ("Command", header.commands[0] if header.commands else ""),
    ]
    return [(term, value) for term, value in found if value]


def provenance(header: Header, launches: list[dict[str, Any]], jobs: Sequence[str] = ()) -> list[tuple[str, list[str]]]:
    """Terms with one or more values each, from campaign.json, the launches and `job_lines`, without missing ones."""
    study, machine, mpi = header.study, header.machine, header.mpi
    terms: list[tuple[str, list[str]]] = [
        ("Commands", list(header.commands)),
        ("Begun", _text_list(header.created)),
        ("Merged campaigns", [_merged(each) for each in header.merged]),
        ("Timpani", _text_list(header.timpani)),
        ("MPI", _text_list(" ".join(filter(None, (mpi.title, mpi.mpirun))))),
        ("Machine", [f"{key.replace('_', ' ')}: {value}" for key, value in _plain_values(header, "machine").items()]),
        ("Nodes", _text_list(fold(host.name for host in machine.hosts))),
        ("Jobs and nodes", list(jobs)),
        ("Study", _study(header)),
        ("Files", list(study.files)),
        ("Seed", _text_list(study.seed)),
        ("Launches", _starts(launches)),
        ("Settings outside Timpani", list(described(header.outside or ()))),
        ("Load of the machines", [_load(each) for each in machine_loads(launches)]),
        ("Clock error", _extremes(launches, "clock_error_ns")),
        ("Timer cost", _extremes(launches, "timer_ns")),
        ("An empty call (null)", _extremes(launches, "null_ns")),
        ("Binding", _bindings(launches)),
        ("Commands of launches", _launch_commands(launches)),
        ("Environment of launches", _environments(launches)),
    ]
    return [(term, values) for term, values in terms if values]


def _text_list(value: object) -> list[str]:
    return [str(value)] if value not in (None, "") else []


def _plain_values(header: Header, part: str) -> dict[str, str | int | float]:
    """What campaign.json says in `part` in single values."""
    recorded = header.recorded.get(part, {}).items()
    return {key: value for key, value in recorded if isinstance(value, str | int | float) and value != ""}


def _study(header: Header) -> list[str]:
    study = header.study
    lines = [f"{name}: {', '.join(algorithms)}" for name, algorithms in study.collectives.items()]
    if study.ranks:
        lines.append(f"ranks: {', '.join(map(str, study.ranks))}")
    if study.sizes:
        lines.append(f"sizes: {', '.join(map(show_size, study.sizes))}")
    separate = {"title", "question", "seed"}
    settings = {"budget_s": "budget (s)", "slot_s": "slot (s)"}
    return lines + [
        f"{settings.get(key, key)}: {value}"
        for key, value in _plain_values(header, "study").items()
        if key not in separate
    ]


def _starts(launches: list[dict[str, Any]]) -> list[str]:
    if not launches:
        return []
    seconds = sum(launch.get("seconds") or 0 for launch in launches)
    failed = sum(1 for launch in launches if launch.get("exit"))
    unseen = sum(1 for launch in launches if "seconds" in launch and launch["seconds"] is None)
    numbers = len({launch.get("launch") for launch in launches})
    text = (
        f"{counted(len(launches), 'start')} of the MPI program in {counted(numbers, 'launch')}, {seconds:.0f} s in all"
    )
    text += f", {failed} of them ended with an error" if failed else ""
    return [f"{text}, {unseen} without a recorded end since the run was killed" if unseen else text]


def job_lines(campaign: Campaign) -> list[str]:
    """Each batch job with its nodes and launches, as `timpani, 4711 of Slurm: n[1-4]; launches 1-3`."""
    of_job = defaultdict[Any, set[int]](set)
    for machine, job, launch in campaign.results.select("machine", "job", "launch").unique().iter_rows():
        of_job[machine, job].add(launch)
    return [
        f"{', '.join(filter(None, (job['name'], job['job'])))} of {job['system']}: {fold(sorted(job['nodes']))}; "
        f"launches {fold_numbers(sorted(of_job[job['machine'], job['job']])) or 'none'}"
        for job in campaign.jobs
        if job["system"]
    ]


def _merged(part: MergedCampaign) -> str:
    """A merged campaign: launches, machine, library, date and command."""
    first, last = part.launches
    about = [value for term, value in facts(Header.check(part.header, "campaign.json")) if term != "Machine"]
    return f"launches {first} to {last} on {part.machine}: {', '.join(about)}"


def _extremes(launches: list[dict[str, Any]], key: str) -> list[str]:
    found = [launch[key] for launch in launches if launch.get(key) is not None]
    if not found:
        return []
    least, most = (f"{each:.3g} ns" if each < 1000 else f"{each / 1000:.3g} µs" for each in (min(found), max(found)))
    return [most if least == most else f"{least} to {most} over launches"]


def _load(load: MachineLoad) -> str:
    stolen = f", and the hypervisor gave {load.stolen:.2f} to others" if load.stolen else ""
    return f"{load.host}: other processes used {load.others:.2f} of {load.cores} cores on average{stolen}"


def _bindings(launches: list[dict[str, Any]]) -> list[str]:
    """Each distinct binding of ranks to cores once."""
    return _distinct(
        ", ".join(
            f"rank {rank['rank']} on {rank['host']} core {fold_numbers(rank.get('cores') or []) or 'unknown'}"
            for rank in launch["ranks"]
        )
        for launch in launches
        if launch.get("ranks")
    )


def _launch_commands(launches: list[dict[str, Any]]) -> list[str]:
    """Each distinct command once; `*` stands for the launch's own folder."""
    return _distinct(
        " ".join(str(word).replace(f"/{launch.get('part')}/", "/*/") for word in launch["command"])
        for launch in launches
        if launch.get("command")
    )


def _environments(launches: list[dict[str, Any]]) -> list[str]:
    return _distinct(
        " ".join(f"{name}={value}" for name, value in launch["environment"].items())
        for launch in launches
        if launch.get("environment")
    )


def _distinct(lines: Iterable[str]) -> list[str]:
    found = list(dict.fromkeys(lines))
    rest = len(found) - _MAX_LAUNCHES
    return found if rest <= 0 else [*found[:_MAX_LAUNCHES], f"and {rest} more, in launches.jsonl"]
