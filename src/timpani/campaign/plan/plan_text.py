"""The plan that the measuring program reads; `native/measure/files/plan.hpp` has its grammar."""

from collections.abc import Iterator, Mapping
from functools import cache
from zlib import crc32

from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.libraries.library import Controls
from timpani.libraries.rules import BY_RULES
from timpani.native_sources import read_table, sources
from timpani.stats.regret import UNSEEN_MODE_FACTOR
from timpani.study.cell import COMPOSED, OWN, ArrivalPattern, Cell
from timpani.study.operations import OPERATIONS
from timpani.study.study import Study


def plan_text(
    plan: CampaignPlan,
    group: Group,
    cells: list[PlannedCell],
    time_limit: float,
    method: str | None = None,
    twice: PlannedCell | None = None,
    seed: str = "",
    launch: int = 1,
    begin_within: float | None = None,
) -> str:
    """The whole plan of a launch of `group`, one of `plan`.

    `time_limit` ends each cell, in seconds. `method` takes the place of the study's own where cells are not timed but
    only called, and `twice` is the one that is then called twice. `seed` decides in which
    order the cells of a point are interleaved, and nothing else. A rotating root depends on the number of the `launch`.
    Points that would begin `begin_within` seconds after the start are left out.
    """
    study = plan.study
    computed = {
        "method": method or study.method,
        "start": "barrier" if group.oversubscribed else "round_time",
        "datatype": group.arguments.datatype,
        "reduction": group.arguments.operator,
        "root": group.arguments.root_in(launch, group.ranks),
        "in_place": group.arguments.in_place,
        "slot_ns": round(time_limit * 1e9),
        "begin_within_ms": None if begin_within is None else max(0, round(begin_within * 1e3)),
        # As long whoever is called twice: ranks pass the plan on to each other, and that is counted too.
        "twice": f"{-1 if twice is None else twice.number:>9}" if method == "call" else None,
        "by_rules": any(planned.cell.algorithm == BY_RULES for planned in cells),
        "share_cores": method is not None and group.oversubscribed,
        "lose_at": None if study.regret is None or method else UNSEEN_MODE_FACTOR,
        "seed": crc32(seed.encode()),
        # Ranks that share a core would wait for the probe, and simulated ones have no machine.
        "probe": study.probe and method is None and not (plan.machine.simulated or group.oversubscribed),
    }
    return "\n".join(
        [
            "timpani-plan 1",
            *key_lines(computed, study),
            *place_lines(plan, group),
            *cell_lines(cells, None if method else ArrivalPattern.parse(study.arrival)),
            "",
        ]
    )


@cache
def plan_keys() -> tuple[str, ...]:
    """The keys of `native/measure/files/plan_keys.def`, which the measuring program reads."""
    rows = read_table((sources() / "measure" / "files" / "plan_keys.def").read_text())
    return tuple(str(row.values["name"]) for row in rows)


def key_lines(computed: Mapping[str, object], study: Study) -> Iterator[str]:
    """A line for each of `plan_keys`: what is `computed`, or else the study's; none for None and False."""
    for name in plan_keys():
        value = computed[name] if name in computed else getattr(study, name)
        if value is not None and value is not False:
            yield name if value is True else f"{name} {value}"


def place_lines(plan: CampaignPlan, group: Group) -> Iterator[str]:
    """A line for each rank, its node and the node's switch by number; none where only MPI knows, or all have one."""
    nodes: dict[str, int] = {}
    groups: dict[str, int] = {}
    for place in plan.requested_binding(group):
        switch = plan.machine.switches.get(place.host, "")
        yield f"place {nodes.setdefault(place.host, len(nodes))} {groups.setdefault(switch, len(groups))}"


def cell_lines(cells: list[PlannedCell], arrival: ArrivalPattern | None) -> Iterator[str]:
    """A line of the plan for each cell; before those of a point `point`, and its arrival pattern, None: together."""
    point: object = None
    for planned in cells:
        if planned.competes_at != point:
            point = planned.competes_at
            yield "point"
            if arrival:
                yield f"arrival {arrival.name} {arrival.delay:.17g} {'calls' if arrival.in_calls else 'ns'}"
        cell = planned.cell
        settings = f"{_controls(planned.at_creation)} {_controls(planned.at_call)} {_way(cell)}"
        yield (
            f"cell {planned.number} {cell.collective} {cell.message_bytes} {cell.mode} {settings}  # {cell.algorithm}"
        )


def _way(cell: Cell) -> str:
    """What the program does: `-`, the library's collective, or by the name that it has there."""
    if cell.algorithm.provider == COMPOSED:
        return str(cell.algorithm)
    called = cell.algorithm.provider != OWN or cell.algorithm == BY_RULES
    return "-" if called and OPERATIONS[cell.collective].kind == "collective" else cell.algorithm.plain


def _controls(controls: Controls) -> str:
    return ",".join(f"{name}={value}" for name, value in controls) or "-"
