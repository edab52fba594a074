"""The plan that the measuring program reads; `native/measure/plan.hpp` has its grammar."""

from collections.abc import Iterator, Mapping
from zlib import crc32

from timpani.campaign.plan.plan import CampaignPlan, Group, PlannedCell
from timpani.libraries.library import Controls
from timpani.providers.rules import BY_RULES
from timpani.stats.regret import UNSEEN_STATE
from timpani.study.cell import COMPOSED, OWN, Cell
from timpani.study.operations import OPERATIONS
from timpani.tuning.race.race import RacePoint


def plan_text(
    plan: CampaignPlan,
    group: Group,
    cells: list[PlannedCell],
    time_limit: float,
    method: str | None = None,
    twice: PlannedCell | None = None,
    rounds: Mapping[RacePoint, int] | None = None,
    seed: str = "",
) -> str:
    """The whole plan of a launch of `group`, one of `plan`.

    `time_limit` ends each cell, in seconds. `method` takes the place of the study's own where cells are not timed but
    counted, and `twice` is the one that is then called twice. `rounds` are those of the points that take a number of
    their own. `seed` decides in which order the cells of a point take turns, and nothing else.
    """
    study = plan.study
    return "\n".join(
        [
            "timpani-plan 1",
            f"method {method or study.method}",
            f"start {'barrier' if group.oversubscribed else 'round_time'}",
            f"datatype {group.datatype}",
            f"precision {study.precision}",
            f"slot_ns {round(time_limit * 1e9)}",
            *([] if study.warmup is None else [f"warmup {study.warmup}"]),
            *([] if study.repetitions is None else [f"repetitions {study.repetitions}"]),
            # As long whoever is called twice: ranks pass the plan on to each other, and that is counted too.
            *([f"twice {-1 if twice is None else twice.number:>9}"] if method == "call" else []),
            *(["include_setup"] if study.include_setup else []),
            *(["by_rules"] if any(planned.cell.algorithm == BY_RULES for planned in cells) else []),
            *place_lines(plan, group),
            *([] if study.regret is None or method else [f"lose_at {UNSEEN_STATE}"]),
            f"seed {crc32(seed.encode())}",
            *(["probe"] if method is None and _can_probe(plan, group) else []),
            *cell_lines(cells, group.ranks, rounds or {}),
            "",
        ]
    )


def _can_probe(plan: CampaignPlan, group: Group) -> bool:
    """Whether the machine's state can be seen: ranks that share a core would wait for it, simulated ones have none."""
    return plan.study.probe and not (plan.machine.simulated or group.oversubscribed)


def place_lines(plan: CampaignPlan, group: Group) -> Iterator[str]:
    """A line for each rank, its node and the node's switch by number; none where only MPI knows, or all have one."""
    nodes: dict[str, int] = {}
    groups: dict[str, int] = {}
    for place in plan.asked(group):
        switch = plan.machine.switches.get(place.host, "")
        yield f"place {nodes.setdefault(place.host, len(nodes))} {groups.setdefault(switch, len(groups))}"


def cell_lines(cells: list[PlannedCell], world: int, rounds: Mapping[RacePoint, int]) -> Iterator[str]:
    """A line of the plan for each cell, one before each point's, with its rounds where it has a number of them, and one
    before those that others than all ranks of `world` run."""
    point: object = None
    ranks = world
    for planned in cells:
        if planned.cell.ranks != ranks:
            ranks = planned.cell.ranks
            yield f"ranks {ranks}"
        if planned.competes_at != point:
            point = planned.competes_at
            number = rounds.get(RacePoint.of(planned.cell))
            yield "point" if number is None else f"point {number}"
        cell = planned.cell
        settings = f"{_controls(planned.at_creation)} {_controls(planned.at_call)} {_way(cell)}"
        yield (
            f"cell {planned.number} {cell.collective} {cell.message_bytes} {cell.mode} {settings}  # {cell.algorithm}"
        )


def _way(cell: Cell) -> str:
    """What the program does: `-`, the library's own collective, or by the name that it has there."""
    if cell.algorithm.provider == COMPOSED:
        return str(cell.algorithm)
    called = cell.algorithm.provider != OWN or cell.algorithm == BY_RULES
    return "-" if called and OPERATIONS[cell.collective].kind == "collective" else cell.algorithm.plain


def _controls(controls: Controls) -> str:
    return ",".join(f"{name}={value}" for name, value in controls) or "-"
