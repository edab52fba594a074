"""A variant on this machine: which library it starts, with which algorithms, and its whole environment."""

import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from timpani.errors import UserError
from timpani.libraries.catalogue import Parameters
from timpani.libraries.library import AlgorithmSelection, Library
from timpani.libraries.outside_settings import environment_overrides, library_variables
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi
from timpani.study.cell import DEFAULT
from timpani.study.variant import PLAIN, Variant

_PRELOAD = "LD_PRELOAD"
_ALL_BUT = "^"
"""Before a list of components in Open MPI: all but these."""


class SettingConflictError(Exception):
    """What forcing an algorithm sets, a variant sets to something else."""


@dataclass(frozen=True)
class PreparedVariant:
    """A variant, and what it starts.

    variant      as the study has it
    mpi          its library
    environment  what it adds to the environment of the launcher and of all ranks: its variables, what its script and
                 modules set, and `clean`
    unset        names of variables that its script and modules remove
    clean        variables that keep its library from the user's files, where its starts go without all settings of
                 libraries in the user's environment; None: they keep these
    """

    name: str
    variant: Variant
    mpi: Mpi
    environment: Mapping[str, str] = field(default_factory=dict)
    unset: frozenset[str] = frozenset()
    clean: Mapping[str, str] | None = None

    @classmethod
    def plain(cls, mpi: Mpi) -> Self:
        """The library with nothing set."""
        return cls(DEFAULT, PLAIN, mpi)

    @property
    def library_alone(self) -> Self:
        """Its library with nothing set."""
        alone = Variant(mpi=self.variant.mpi)
        return replace(self, variant=alone, environment=dict(self.clean or {}), unset=frozenset())

    @property
    def library(self) -> Library:
        """What is known of its library."""
        return LIBRARIES[self.mpi.kind]

    @property
    def shown(self) -> str:
        """Behind the library in a sentence: nothing, or that it is started by this variant."""
        return "" if self.name == DEFAULT else f" with variant {self.name!r} ({self.variant})"

    @property
    def chooses_algorithms(self) -> bool:
        """Whether one of its settings is of those that choose algorithms."""
        names = [self.library.launcher.variable(name) for name, _ in self.variant.parameters]
        return any(self.library.settings.overrides.fullmatch(name) for name in (*names, *self.environment))

    @property
    def launcher_environment(self) -> dict[str, str]:
        """What the launcher itself gets: what is loaded before ranks is not for it."""
        return {name: value for name, value in self.environment.items() if name != _PRELOAD}

    def without(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """Names of the variables of `environment` that its starts don't get, unless it sets them.

        Those choose algorithms, in a clean environment set a library, or are removed by its script or modules.
        """
        overrides = environment_overrides(self.mpi, environment)
        unclean = () if self.clean is None else library_variables(environment)
        unset = sorted(self.unset & environment.keys())
        return tuple(name for name in dict.fromkeys((*overrides, *unclean, *unset)) if name not in self.environment)

    def with_selection(self, parameters: Parameters, environment: Mapping[str, str]) -> AlgorithmSelection:
        """Its parameters and environment with those that force an algorithm.

        SettingConflictError where both set the same to different values, but for lists of components to exclude, which
        are joined.
        """
        joined = dict(self.variant.parameters)
        for name, value in parameters:
            joined[name] = _joined(name, joined.get(name, value), value)
        variables = dict(self.environment)
        if preloaded := ":".join(filter(None, (environment.get(_PRELOAD), variables.get(_PRELOAD)))):
            variables[_PRELOAD] = preloaded
        variables |= {name: value for name, value in environment.items() if name != _PRELOAD}
        for name in joined:
            if self.library.launcher.variable(name) in variables and name in dict(parameters):
                raise SettingConflictError(f"{self.library.launcher.variable(name)} is set by the variant")
        return AlgorithmSelection(tuple(joined.items()), variables)

    def setting(self, before: str, parameters: Parameters, environment: Mapping[str, str]) -> str | None:
        """The shell text before a program that starts it outside Timpani as this variant starts ranks.

        before       shell text before the launcher
        parameters   those that select an algorithm; they are joined with the variant's as in a measurement
        environment  the user's

        None where nothing is needed, or where the variant sets one of the parameters to another value.
        """
        if self.variant.is_plain and not before and not parameters:
            return None
        try:
            joined = self.with_selection(parameters, {}).parameters
        except SettingConflictError:
            return None
        variables = {name: value for name, value in self.mpi.environment if environment.get(name) != value}
        variables |= {**(self.clean or {}), **dict(self.variant.environment)}
        if self.variant.preload:
            variables[_PRELOAD] = self.environment[_PRELOAD]
        words: list[str] = []
        if self.library.launcher.parameter:
            words = [word for each in joined for word in self.library.launcher.parameter(*each)]
        else:
            variables |= {self.library.launcher.variable(name): value for name, value in joined}
        exports = [word for each in variables.items() for word in self._export(*each)]
        command = shlex.join([self._launcher, *exports, *words, *self.variant.arguments])
        exported = self.library.launcher.export is not None
        assigned = (
            f"{name}={shlex.quote(value)}" for name, value in variables.items() if name != _PRELOAD or not exported
        )
        sources = [f"module load {shlex.join(self.variant.modules)}"] * bool(self.variant.modules)
        if self.variant.source:  # a shell searches for a name without a folder on PATH
            sources.append(f". {shlex.quote(str(Path(self.variant.source).expanduser().absolute()))}")
        removed = [word for name in self.without(environment) if name not in self.unset for word in ("-u", name)]
        without = ("env", *removed) if removed else ()
        return " && ".join([*sources, " ".join(filter(None, (*without, *assigned, before, command)))])

    @property
    def _launcher(self) -> str:
        """Its launcher as a shell finds it: by its name, if that is no other launcher's."""
        launcher = self.mpi.mpirun
        found = shutil.which(launcher.name, path=self.environment.get("PATH"))
        return launcher.name if found == str(launcher) else str(launcher)

    def _export(self, name: str, value: str) -> tuple[str, ...]:
        """The launcher's words that pass on a variable, if it does not do so anyway."""
        passed_on = self.library.launcher.parameter is None or self.library.settings.control(name) is not None
        if self.library.launcher.export is None or (passed_on and name != _PRELOAD):
            return ()
        return self.library.launcher.export(name, value)


def _joined(name: str, of_variant: str, of_algorithm: str) -> str:
    if of_variant == of_algorithm:
        return of_variant
    if of_variant.startswith(_ALL_BUT) and of_algorithm.startswith(_ALL_BUT):
        parts = [*of_variant.removeprefix(_ALL_BUT).split(","), *of_algorithm.removeprefix(_ALL_BUT).split(",")]
        return _ALL_BUT + ",".join(dict.fromkeys(parts))
    raise SettingConflictError(f"the variant sets {name} to {of_variant}, and the algorithm takes {of_algorithm}")


def check_variant(name: str, variant: Variant, mpi: Mpi) -> None:
    """UserError where a variant sets the same thing by a parameter and by a variable."""
    library = LIBRARIES[mpi.kind]
    by_variable = {library.launcher.variable(parameter): parameter for parameter, _ in variant.parameters}
    for variable, _ in variant.environment:
        if parameter := by_variable.get(variable):
            raise UserError(f"variant {name!r} sets {parameter} twice, also as {variable}", "keep one")
