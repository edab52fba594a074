"""Before anything is measured each variant is started once: does it start, and what does the library take of it?"""

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from timpani.campaign.plan.plan import CampaignPlan, Group
from timpani.campaign.plan.prepared_variant import PreparedVariant
from timpani.campaign.run.launch import one_line
from timpani.campaign.run.start import Programs
from timpani.errors import UserError, printable
from timpani.libraries.registry import LIBRARIES
from timpani.libraries.taken_settings import InstalledSettings, TakenSettings, setting_fault
from timpani.native.die_with_parent import die_with_parent
from timpani.study.cell import DEFAULT

_SECONDS = 120
"""Of a start that measures nothing: busy machines and network file systems are slow."""

_MAX_VALUE_CHARACTERS = 500
"""Characters of a control variable's value that are recorded."""


@dataclass(frozen=True)
class ChangedSetting:
    """A control variable of the library that a variant changed, directly or not."""

    name: str
    default: str
    value: str


def check_variants(plan: CampaignPlan, programs: Programs) -> dict[str, tuple[ChangedSetting, ...]]:
    """By variant, the control variables that differ from the default's, or of another library from it with nothing set.

    Another library that can't start without the variant's script or modules is not compared.

    UserError for a variant that can't start, whose variables don't reach all ranks, whose ranks run elsewhere than
    asked, or with a setting that the library doesn't have or that is not in force. Nothing is started where there is
    one plain variant, or where machines are simulated.
    """
    if plan.machine.simulated or (len(plan.variants) == 1 and plan.variants[0].variant.is_plain):
        return {}
    groups = {group.variant.name: group for group in sorted(plan.groups, key=lambda group: -group.ranks)}
    taken = {}
    for variant in plan.variants:
        taken[variant.name] = started(plan, groups[variant.name], programs)
        _check(variant, taken[variant.name])
        _check_places(plan, groups[variant.name], taken[variant.name])
    own = groups[DEFAULT].mpi
    references = {own: _same_in(taken[DEFAULT], started(plan, groups[DEFAULT], programs))}
    changed: dict[str, tuple[ChangedSetting, ...]] = {}
    for variant in plan.variants:
        if variant.mpi != own and variant == variant.library_alone:
            changed[variant.name] = ()
            continue
        if variant.mpi not in references:
            references[variant.mpi] = _shown_alone(plan, groups[variant.name], programs)
        if reference := references[variant.mpi]:
            changed[variant.name] = _changes(reference, taken[variant.name])
    return changed


def _shown_alone(plan: CampaignPlan, group: Group, programs: Programs) -> dict[str, str]:
    """The control variables of the library of `group` with nothing set; none where it doesn't start."""
    alone = replace(group, variant=group.variant.library_alone)
    try:
        return _same_in(started(plan, alone, programs), started(plan, alone, programs))
    except UserError:
        return {}


def _same_in(one: TakenSettings, other: TakenSettings) -> dict[str, str]:
    """The control variables that two equal starts show: others, such as a process number, say nothing of a variant."""
    return dict(one.texts.items() & other.texts.items())


def _changes(reference: Mapping[str, str], taken: TakenSettings) -> tuple[ChangedSetting, ...]:
    return tuple(
        ChangedSetting(name, reference[name][:_MAX_VALUE_CHARACTERS], text[:_MAX_VALUE_CHARACTERS])
        for name, text in sorted(taken.texts.items())
        if reference.get(name, text) != text
    )


def _check(variant: PreparedVariant, taken: TakenSettings) -> None:
    library = LIBRARIES[variant.mpi.kind]
    if taken.unforwarded:
        raise UserError(
            f"variant {variant.name!r}: the launcher does not forward {', '.join(taken.unforwarded)} to all ranks",
            "set it by a parameter of the library, or by words of the launcher",
        )
    environment = {library.variable(name): value for name, value in variant.variant.parameters}
    environment |= dict(variant.variant.environment)

    @cache
    def installed() -> InstalledSettings:
        return library.installed_settings(variant.mpi, {**os.environ, **variant.environment, **environment})

    for name, asked in (*variant.variant.parameters, *variant.variant.environment):
        control = library.control(name)
        if control and (fault := setting_fault(name, asked, control, taken, installed)):
            raise UserError(f"variant {variant.name!r}: {fault.what}", fault.next_step)


def _check_places(plan: CampaignPlan, group: Group, taken: TakenSettings) -> None:
    if taken.places and (mistake := plan.check_binding(group, taken.places)):
        raise UserError(
            f"variant {group.variant.name!r} asks for ranks by {group.placement}, and they run elsewhere: {mistake}",
            "leave out what binds its ranks, or correct the machine file: other places are no comparison",
        )


def started(plan: CampaignPlan, group: Group, programs: Programs) -> TakenSettings:
    """What a program shows that the variant of `group` starts; UserError where it doesn't start."""
    variant = group.variant
    plain = variant.with_selection((), {})
    named = [f"{name}={value}" for name, value in variant.environment.items()]
    program = (str(programs(variant.mpi) / "timpani-discover"), "places", *named)
    alone = replace(group, parameters=plain.parameters, environment=plain.environment)
    without = variant.without(os.environ)
    with tempfile.TemporaryDirectory(prefix="timpani-variant-") as name:
        folder = Path(name)
        command = plan.command(alone, program, folder)
        for file, text in command.files.items():
            (folder / file).write_text(text)
        try:
            done = subprocess.run(
                command.argv,
                env={key: value for key, value in os.environ.items() if key not in without} | dict(command.environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_SECONDS,
                check=False,
                preexec_fn=die_with_parent,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise _cannot_start(variant, str(error)) from None
        if done.returncode:
            LIBRARIES[variant.mpi.kind].remove_remains(folder)
            raise _cannot_start(variant, first_sentence(done.stderr or done.stdout))
    return read_taken(done.stdout.decode(errors="replace").splitlines())


def first_sentence(output: bytes) -> str:
    """The first sentence of what a failed start printed."""
    lines = output.decode(errors="replace").splitlines()
    return one_line("\n".join(line for line in lines if line.strip(" -=*\t") and not line.startswith("{")))


def _cannot_start(variant: PreparedVariant, why: str) -> UserError:
    return UserError(f"variant {variant.name!r} can't start ({variant.variant}): {why}", "correct it, or leave it out")


def read_taken(lines: list[str]) -> TakenSettings:
    """What timpani-discover printed, among what libraries print."""
    texts: dict[str, str] = {}
    numbers: dict[str, int] = {}
    unforwarded: list[str] = []
    places: list[dict[str, object]] = []
    for line in _objects(lines):
        if "environment" in line:
            if not line["everywhere"]:
                unforwarded.append(str(line["environment"]))
        elif isinstance(found := line.get("places"), list):
            places = found
        else:
            name = printable(str(line.get("name")))
            texts[name] = printable(str(line.get("text", "")))
            if isinstance(value := line.get("value"), int):
                numbers[name] = value
    return TakenSettings(texts, numbers, tuple(unforwarded), tuple(places))


def _objects(lines: list[str]) -> Iterator[dict[str, object]]:
    for line in lines:
        try:
            found = json.loads(line) if line.startswith("{") else None
        except ValueError:  # what two processes printed into one line
            continue
        if isinstance(found, dict):
            yield found
