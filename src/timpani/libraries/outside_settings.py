"""All settings outside Timpani that launches of a library would find here, and how they are reported."""

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from timpani.libraries.library import ENVIRONMENT, OutsideSetting
from timpani.libraries.registry import LIBRARIES
from timpani.native.mpi import Mpi

_TIMPANIS = re.compile(r"TIMPANI_(RULES|OFF|GROUPS|TRACE|PROFILE)")
"""What `libtimpani.so` reads where it is preloaded."""

_OF_LIBRARIES = re.compile(
    r"(OMPI|PRTE|PMIX)_MCA_\w+|(MPIR_CVAR|MPIR_PARAM|MPICH|I_MPI|UCX|UCC|HCOLL|FI)_\w+|HYDRA_CONFIG_FILE"
)
"""Variables that set a library or its transports."""

_PLACES = frozenset({"I_MPI_ROOT", "FI_PROVIDER_PATH"})
"""Variables that say where a library is installed."""


def library_variables(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the environment's `names` that set any library or its transports, without places of installation."""
    return tuple(sorted(name for name in names if _OF_LIBRARIES.fullmatch(name) and name not in _PLACES))


def clean_environment(mpi: Mpi, environment: Mapping[str, str]) -> dict[str, str]:
    """`environment` without the user's settings of libraries, and with what keeps `mpi` from the user's files."""
    left_out = library_variables(environment)
    kept = {name: value for name, value in environment.items() if name not in left_out}
    return {**kept, **LIBRARIES[mpi.kind].settings.without_own_files(mpi, kept)}


def environment_overrides(mpi: Mpi, names: Iterable[str]) -> tuple[str, ...]:
    """Those of the environment's `names` that choose algorithms of `mpi` or Timpani's; launches go without them."""
    overrides = LIBRARIES[mpi.kind].settings.overrides
    return tuple(sorted(name for name in names if overrides.fullmatch(name) or _TIMPANIS.fullmatch(name)))


MODULES = "LOADEDMODULES"
"""The variable in which environment modules keep the names of those that are loaded."""


def settings_of_libraries(
    libraries: Sequence[Mpi], environment: Mapping[str, str], clean: bool
) -> tuple[OutsideSetting, ...]:
    """The `outside_settings` of each library; those that not all of them find name the libraries that do."""
    found_by: dict[OutsideSetting, list[str]] = {}
    for mpi in libraries:
        for each in dict.fromkeys(outside_settings(mpi, environment, clean)):
            found_by.setdefault(each, []).append(mpi.title)
    return tuple(
        each if len(titles) == len(libraries) else replace(each, libraries=", ".join(titles))
        for each, titles in found_by.items()
    )


def outside_settings(mpi: Mpi, environment: Mapping[str, str], clean: bool = False) -> tuple[OutsideSetting, ...]:
    """The settings of `mpi` in `environment` and in the files that it reads, and the loaded modules.

    clean  whether launches get the clean environment: what is not in force there is removed
    """
    removed = environment_overrides(mpi, environment)
    kept = {name: value for name, value in environment.items() if name not in removed}
    modules = environment.get(MODULES, "")
    return (
        *(OutsideSetting(name, environment[name], ENVIRONMENT, chooses=True, removed=True) for name in removed),
        *(_clean_settings if clean else LIBRARIES[mpi.kind].settings.in_force)(mpi, kept),
        *((OutsideSetting(MODULES, modules, ENVIRONMENT, chooses=False),) if modules else ()),
    )


def _clean_settings(mpi: Mpi, environment: Mapping[str, str]) -> Iterator[OutsideSetting]:
    """The settings in force in the clean environment, then those that it removes, whichever library reads them."""
    cleaned = clean_environment(mpi, environment)
    before = list(LIBRARIES[mpi.kind].settings.in_force(mpi, environment))
    read = {each.name for each in before if each.source == ENVIRONMENT}
    unread = (name for name in sorted(environment.keys() - cleaned.keys()) if name not in read)
    before += (OutsideSetting(name, environment[name], ENVIRONMENT, chooses=False) for name in unread)
    after = list(LIBRARIES[mpi.kind].settings.in_force(mpi, cleaned))
    added = dict(cleaned.items() - environment.items())
    yield from (each for each in after if each.source != ENVIRONMENT or each.name not in added)
    yield from (replace(each, removed=True) for each in before if each not in after)


def baseline_warnings(settings: Iterable[OutsideSetting]) -> Iterator[str]:
    """A sentence for each setting because of which `default` is not the library's default."""
    for each in settings:
        if each.decides_default:
            yield f"{each.concerns}default is not the library's default: {each}"


def described(settings: Iterable[OutsideSetting]) -> Iterator[str]:
    """All settings in words: first those that decide the default, then the removed ones and the others by source."""
    settings = tuple(settings)
    yield from baseline_warnings(settings)
    for libraries in dict.fromkeys(each.libraries for each in settings):
        those = [each for each in settings if each.libraries == libraries]
        yield from (f"{those[0].concerns}{text}" for text in _undecided_described(those))


def _undecided_described(settings: Sequence[OutsideSetting]) -> Iterator[str]:
    """Settings of the same libraries that don't decide the default."""
    if removed := [each for each in settings if each.removed and each.chooses and each.source == ENVIRONMENT]:
        names = ", ".join(each.name for each in removed)
        text = shlex.join(f"{each.name}={each.value}" for each in removed)
        variant = shlex.quote(f"mine: {'--mpi … ' if settings[0].libraries else ''}{text}")
        yield (
            f"Timpani removes {names} from the environment of its launches, so that the library chooses algorithms; "
            f"`timpani run … --variant {variant}` measures with what was removed, too"
        )
    others = [each for each in settings if each.removed and each not in removed]
    yield from (f"launches go without a setting, by --clean-environment: {each}" for each in others)
    modules = [each.value for each in settings if each.name == MODULES and not each.removed]
    yield from (f"loaded modules: {each.replace(':', ', ')}" for each in modules)
