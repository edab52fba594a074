"""Where the figures come from: the conditions of a campaign as terms with their values."""

from collections.abc import Iterable
from typing import Any

from timpani.machine.node_set import fold, fold_numbers
from timpani.study.sizes import show_size

_MOST_LAUNCHES = 12  # whose command and binding are shown


def provenance(header: dict[str, Any], launches: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
    """Terms with one or more values each, from campaign.json and launches.jsonl; what they don't tell is left out."""
    study, machine, mpi = (dict(header.get(name) or {}) for name in ("study", "machine", "mpi"))
    terms: list[tuple[str, list[str]]] = [
        ("Commands", [str(command) for command in header.get("commands") or []]),
        ("Begun", _values(header, "created")),
        ("Timpani", _values(header, "timpani")),
        ("MPI", [" ".join(str(mpi[key]) for key in ("kind", "version", "mpirun") if mpi.get(key))] if mpi else []),
        ("Machine", [f"{key.replace('_', ' ')}: {value}" for key, value in machine.items() if _plain(value)]),
        ("Nodes", [fold(host["name"] for host in machine["hosts"])] if machine.get("hosts") else []),
        ("Study", _study(study)),
        ("Files", [str(file) for file in study.get("files") or []]),
        ("Seed", _values(study, "seed")),
        ("Launches", _launches(launches)),
        ("Clock error", _extremes(launches, "clock_error_ns")),
        ("Timer cost", _extremes(launches, "timer_ns")),
        ("An empty call (null)", _extremes(launches, "null_ns")),
        ("Binding", _bindings(launches)),
        ("Commands of launches", _launch_commands(launches)),
        ("Environment of launches", _environments(launches)),
    ]
    return [(term, values) for term, values in terms if values]


def _values(source: dict[str, Any], key: str) -> list[str]:
    return [str(source[key])] if source.get(key) not in (None, "") else []


def _plain(value: Any) -> bool:
    return isinstance(value, str | int | float) and value != ""


def _study(study: dict[str, Any]) -> list[str]:
    known = {"title", "question", "seed", "collectives", "ranks", "sizes"}
    lines = [f"{name}: {', '.join(algorithms)}" for name, algorithms in (study.get("collectives") or {}).items()]
    if study.get("ranks"):
        lines.append(f"ranks: {', '.join(str(count) for count in study['ranks'])}")
    if study.get("sizes"):
        lines.append(f"sizes: {', '.join(show_size(size) for size in study['sizes'])}")
    settings = {"budget_s": "budget (s)", "slot_s": "slot (s)"}
    return lines + [
        f"{settings.get(key, key)}: {value}" for key, value in study.items() if key not in known and _plain(value)
    ]


def _launches(launches: list[dict[str, Any]]) -> list[str]:
    if not launches:
        return []
    seconds = sum(launch.get("seconds") or 0 for launch in launches)
    failed = sum(1 for launch in launches if launch.get("exit"))
    text = f"{len(launches)} starts of the MPI program, {seconds:.0f} s in all"
    return [f"{text}, {failed} of them ended with an error" if failed else text]


def _extremes(launches: list[dict[str, Any]], key: str) -> list[str]:
    found = [launch[key] for launch in launches if launch.get(key) is not None]
    if not found:
        return []
    least, most = f"{min(found):.3g} ns", f"{max(found):.3g} ns"
    return [most if least == most else f"{least} to {most} over launches"]


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
    rest = len(found) - _MOST_LAUNCHES
    return found if rest <= 0 else [*found[:_MOST_LAUNCHES], f"and {rest} more, in launches.jsonl"]
