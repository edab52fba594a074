"""Where a campaign's numbers come from: its conditions as terms with their values."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from timpani.campaign.folder.header import Header
from timpani.campaign.folder.header_parts import MergedCampaign
from timpani.campaign.folder.load import Campaign
from timpani.campaign.read.campaign_warnings import MachineLoad, machine_loads
from timpani.libraries.outside_settings import described
from timpani.machine.nodes.model import fold, fold_numbers
from timpani.study.sizes import show_size
from timpani.study.words import counted

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
        ("Launches", _launches(launches)),
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


def _launches(launches: list[dict[str, Any]]) -> list[str]:
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
