"""Before anything is measured each variant is started once: does it start, and what does the library take of it?"""

import os
import subprocess
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import cache, cached_property

from timpani.campaign.folder.header_parts import RecordedMpi, RecordedSetting, RecordedVariant
from timpani.campaign.plan.plan import CampaignPlan, Group
from timpani.campaign.plan.prepared_variant import PreparedVariant
from timpani.campaign.run.launch import one_line
from timpani.campaign.run.start import Programs
from timpani.errors import UserError
from timpani.libraries.outside_settings import library_variables
from timpani.libraries.taken_settings import (
    InstalledSettings,
    TakenSettings,
    complaint_fault,
    read_taken,
    setting_fault,
    value_fault,
)
from timpani.native.children import die_with_parent
from timpani.native.held_folder import remove_temporaries, temporary
from timpani.native.mpi import Mpi

_KIND = "variants"

_SECONDS = 120
"""Of a start that measures nothing: busy machines and network file systems are slow."""

_MAX_VALUE_CHARACTERS = 500
"""Characters of a control variable's value that are recorded."""


def check_variants(plan: CampaignPlan, programs: Programs, components: bool = True) -> dict[str, RecordedVariant]:
    """What each variant's start showed.

    components  whether a preferred component must run what the plan measures

    UserError for a variant that can't start, whose variables don't reach all ranks, or whose ranks run elsewhere than
    asked. Also for a setting that the library doesn't have or that is not in force, and for a preferred component that
    runs nothing of what is measured.
    """
    starts = _Starts(plan, programs)
    return {variant.name: starts.check(variant, components) for variant in plan.variants}


def unusable_variants(
    plan: CampaignPlan, programs: Programs, names: Set[str], of_components: Set[str]
) -> Iterator[tuple[str, str]]:
    """Those of the variants `names` that can't compete here, and why.

    of_components  variants that are meant to have another component run a collective

    UserError where the default can't start.
    """
    starts = _Starts(plan, programs)
    starts.check(plan.variants[0], components=True)
    for variant in plan.variants:
        if variant.name not in names:
            continue
        try:
            starts.check(variant, components=True)
            if variant.name in of_components and not starts.changes_components(variant):
                yield variant.name, f"variant {variant.name!r} changes no component that runs a measured collective"
        except UserError as error:
            yield variant.name, error.what


@dataclass
class _Starts:
    """The starts that show what a library takes of variants, each once for its ranks and placement."""

    plan: CampaignPlan
    programs: Programs
    taken: dict[tuple[str, int, str], TakenSettings] = field(default_factory=dict)
    alone: dict[Mpi, Mapping[str, str] | None] = field(default_factory=dict)

    def check(self, variant: PreparedVariant, components: bool) -> RecordedVariant:
        """What the start of `variant` on its most ranks showed; UserError where something is wrong with it."""
        group = self._groups(variant)[0]
        taken = self._taken(group)
        unchecked = tuple(_unchecked_settings(variant, taken))
        _check_places(self.plan, group, taken)
        changed = self._changed(group)
        preferred = {each for setting in changed or () if (each := _preferred(variant, setting))}
        if components and preferred and not any(self._runs_any(preferred, each) for each in self._groups(variant)):
            running = ", ".join(f"{name}: {each}" for name, each in self._components(group).items())
            raise UserError(
                f"variant {variant.name!r}: component {' and '.join(sorted(preferred))} is preferred, and runs none of "
                f"the measured collectives ({running})",
                "leave the variant out, or measure a collective that the component has",
            )
        return RecordedVariant(
            settings=str(variant.variant),
            mpi=RecordedMpi.from_mpi(variant.mpi),
            changed=changed,
            components=self._components(group),
            unchecked=unchecked,
        )

    def changes_components(self, variant: PreparedVariant) -> bool:
        """Whether another component than with DEFAULT runs a measured collective, or the library shows no component."""
        return any(
            not self._taken(group).components or self._components(group) != self._components(default)
            for group in self._groups(variant)
            if (default := self._with_default(group))
        )

    def _runs_any(self, components: Set[str], group: Group) -> bool:
        """Whether one of `components` runs a measured collective, or the library shows no component."""
        running = self._components(group)
        return not running or not components.isdisjoint(running.values())

    def _groups(self, variant: PreparedVariant) -> list[Group]:
        """A group for each rank count and placement, that with the most ranks first."""
        found = {(each.ranks, each.placement): each for each in self.plan.groups if each.variant.name == variant.name}
        return sorted(found.values(), key=lambda group: group.ranks, reverse=True)

    def _with_default(self, group: Group) -> Group | None:
        """The group of DEFAULT, the first variant, with the ranks and the placement of `group`, and its library."""
        default = self.plan.variants[0]
        same = (
            each for each in self._groups(default) if (each.ranks, each.placement) == (group.ranks, group.placement)
        )
        return next(same, None) if group.mpi == default.mpi else None

    def _taken(self, group: Group) -> TakenSettings:
        key = (group.variant.name, group.ranks, group.placement)
        if key not in self.taken:
            self.taken[key] = started(self.plan, group, self.programs)
        return self.taken[key]

    def _components(self, group: Group) -> dict[str, str]:
        measured = {each.cell.collective for each in self.plan.cells}
        return {name: each for name, each in self._taken(group).components.items() if name in measured}

    def _changed(self, group: Group) -> tuple[RecordedSetting, ...] | None:
        reference = self._reference(group)
        if reference is None:
            return None
        return tuple(
            RecordedSetting(
                name=name, default=reference[name][:_MAX_VALUE_CHARACTERS], value=text[:_MAX_VALUE_CHARACTERS]
            )
            for name, text in sorted(self._taken(group).texts.items())
            if reference.get(name, text) != text
        )

    def _reference(self, group: Group) -> Mapping[str, str] | None:
        """The control variables with DEFAULT, or of another library with nothing set; None where it doesn't start."""
        if default := self._with_default(group):
            return {name: text for name, text in self._taken(default).texts.items() if name in self._lasting}
        if group.variant == group.variant.library_alone:
            return self._taken(group).texts
        if group.mpi not in self.alone:
            self.alone[group.mpi] = self._shown_alone(replace(group, variant=group.variant.library_alone))
        return self.alone[group.mpi]

    def _shown_alone(self, group: Group) -> Mapping[str, str] | None:
        try:
            return _same_in(started(self.plan, group, self.programs), started(self.plan, group, self.programs))
        except UserError:
            return None

    @cached_property
    def _lasting(self) -> frozenset[str]:
        """Control variables with the same value in two starts of DEFAULT."""
        group = self._groups(self.plan.variants[0])[0]
        return frozenset(_same_in(self._taken(group), started(self.plan, group, self.programs)))


def _same_in(one: TakenSettings, other: TakenSettings) -> dict[str, str]:
    """The control variables that two equal starts show: others, such as a process number, say nothing of a variant."""
    return dict(one.texts.items() & other.texts.items())


def _preferred(variant: PreparedVariant, setting: RecordedSetting) -> str | None:
    return variant.library.settings.preferred_component(setting.name, setting.default, setting.value)


def _unchecked_settings(variant: PreparedVariant, taken: TakenSettings) -> Iterator[str]:
    """Names of settings whose value in force the library doesn't show; UserError where one is not in force.

    A name or a component that is unknown and only exported by a script or a module is no fault: another program may
    read it, or another installation have it. What Timpani sets for a clean environment is no setting of the variant's.
    """
    library = variant.library
    if taken.unforwarded:
        raise UserError(
            f"variant {variant.name!r}: the launcher does not forward {', '.join(taken.unforwarded)} to all ranks",
            "set it by a parameter of the library, or by words of the launcher",
        )
    parameters, typed = dict(variant.variant.parameters), dict(variant.variant.environment)
    environment = {library.launcher.variable(name): value for name, value in parameters.items()} | typed

    @cache
    def installed() -> InstalledSettings:
        return library.settings.installed(variant.mpi, {**os.environ, **variant.environment, **environment})

    set_anyway = {library.settings.control(name) for name in (*parameters, *typed)}
    exported = {
        name: variant.environment[name]
        for name in library_variables(variant.environment)
        if name not in (variant.clean or {}) and library.settings.control(name) not in set_anyway
    }
    for name, asked in {**exported, **parameters, **typed}.items():
        control = library.settings.control(name)
        is_typed = name in parameters or name in typed
        fault = complaint_fault(name, asked, taken) if is_typed else None
        if name in parameters and control is None:
            fault = UserError(f"{library.name} has no parameters, and ignores {name}", "write a variable: NAME=VALUE")
        elif control is not None and is_typed:
            fault = fault or setting_fault(name, asked, control, taken, installed)
        elif control is not None and taken.shows(control):
            fault = value_fault(name, asked, control, taken, installed)
        if fault:
            raise UserError(f"variant {variant.name!r}: {fault.what}", fault.next_step)
        if control is None or not taken.verifies(control):
            yield name


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
    remove_temporaries(_KIND)
    with temporary(_KIND) as (folder, _):
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
            variant.library.launcher.remove_remains(folder)
            raise _cannot_start(variant, first_sentence(done.stderr or done.stdout))
    printed = (done.stdout + b"\n" + done.stderr).decode(errors="replace")
    return read_taken(printed.splitlines(), variant.library.settings.names_of_control)


def first_sentence(output: bytes) -> str:
    """The first sentence of what a failed start printed."""
    lines = output.decode(errors="replace").splitlines()
    return one_line("\n".join(line for line in lines if line.strip(" -=*\t") and not line.startswith("{")))


def _cannot_start(variant: PreparedVariant, why: str) -> UserError:
    return UserError(f"variant {variant.name!r} can't start ({variant.variant}): {why}", "correct it, or leave it out")
