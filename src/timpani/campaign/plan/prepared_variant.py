"""A variant on this machine: which library it starts, with which algorithms, and its whole environment."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from timpani.errors import UserError
from timpani.libraries.environment_overrides import environment_overrides, library_variables
from timpani.libraries.launch_request import Parameters
from timpani.libraries.library import AlgorithmSelection, Library
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
    environment  what it adds to the environment of the launcher and of all ranks: its variables, and what its script
                 and modules set
    clean        whether its starts go without all settings of libraries in the user's environment
    """

    name: str
    variant: Variant
    mpi: Mpi
    environment: Mapping[str, str] = field(default_factory=dict)
    clean: bool = False

    @classmethod
    def plain(cls, mpi: Mpi) -> Self:
        """The library with nothing set."""
        return cls(DEFAULT, PLAIN, mpi)

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
        names = [self.library.variable(name) for name, _ in self.variant.parameters]
        return any(self.library.overrides.fullmatch(name) for name in (*names, *self.environment))

    @property
    def launcher_environment(self) -> dict[str, str]:
        """What the launcher itself gets: what is loaded before ranks is not for it."""
        return {name: value for name, value in self.environment.items() if name != _PRELOAD}

    def without(self, environment: Mapping[str, str]) -> tuple[str, ...]:
        """Names of the variables of `environment` that its starts don't get, unless it sets them.

        Those choose algorithms, or in a clean environment set a library.
        """
        overrides = environment_overrides(self.mpi, environment)
        unclean = library_variables(environment) if self.clean else ()
        return tuple(name for name in dict.fromkeys((*overrides, *unclean)) if name not in self.environment)

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
            if self.library.variable(name) in variables and name in dict(parameters):
                raise SettingConflictError(f"{self.library.variable(name)} is set by the variant")
        return AlgorithmSelection(tuple(joined.items()), variables)

    def setting(self, typed: str | None) -> str | None:
        """What a user types to have it outside Timpani: a shell's words before the program.

        typed  the words that force an algorithm; None: none are needed
        """
        if self.variant.is_plain:
            return typed
        launcher = str(self.mpi.mpirun) if self.variant.mpi else self.mpi.mpirun.name
        words = [word for name, value in self.variant.parameters for word in self._parameter(name, value)]
        preload = self.variant.preload and self.library.export
        words += self.library.export(_PRELOAD, self.variant.preload) if preload and self.library.export else ()
        command = " ".join(
            filter(None, (typed or shlex.quote(launcher), shlex.join([*words, *self.variant.arguments])))
        )
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in self.variant.environment)
        before = [f"module load {shlex.join(self.variant.modules)}"] * bool(self.variant.modules)
        before += [f". {shlex.quote(self.variant.source)}"] * bool(self.variant.source)
        return " && ".join([*before, " ".join(filter(None, (variables, command)))])

    def _parameter(self, name: str, value: str) -> tuple[str, ...]:
        """The launcher's words for one of the library's parameters."""
        if self.library.parameter:
            return self.library.parameter(name, value)
        return self.library.export(self.library.variable(name), value) if self.library.export else ()


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
    by_variable = {library.variable(parameter): parameter for parameter, _ in variant.parameters}
    for variable, _ in variant.environment:
        if parameter := by_variable.get(variable):
            raise UserError(f"variant {name!r} sets {parameter} twice, also as {variable}", "keep one")
