"""What a variant switches on for a program: `NAME: SETTINGS`, checked with the program's library before any run."""

from timpani.campaign.plan.prepare_variants import variant_environment
from timpani.campaign.run.session import Session
from timpani.campaign.run.variant_check import check_variants
from timpani.errors import UserError
from timpani.libraries.registry import LIBRARIES
from timpani.native.build import build
from timpani.native.mpi import Mpi
from timpani.programs.runs.block_runs import Choice
from timpani.study.study import Study
from timpani.study.variant import Variant, parse_named

_PRELOAD = "LD_PRELOAD"


def choice_of_variant(text: str, library: Mpi) -> Choice:
    """The choice of a variant, as `--variant` has it; UserError for a setting that `library` does not take."""
    name, variant = parse_named(text)
    if variant.mpi:
        raise UserError(
            f"variant {name!r} names another library, and a program is linked with one",
            "compare two programs, or measure the libraries: timpani run … --mpi A --mpi B",
        )
    environment, unset = variant_environment(name, variant)
    if _PRELOAD in (*environment, *unset):
        raise UserError(
            f"variant {name!r} sets or removes {_PRELOAD}, by which the program's calls are counted",
            "preload it in the program's command: env LD_PRELOAD=…",
        )
    _check_in_force(name, variant, library)
    known = LIBRARIES[library.kind]
    parameters = {known.launcher.variable(parameter): value for parameter, value in variant.parameters}
    own = {variable for variable in environment if known.settings.control(variable) is not None}
    return Choice(
        {**environment, **parameters},
        None,
        variant.arguments,
        tuple(variable for variable in environment if variable not in own),
        removed=tuple(sorted(unset)),
    )


def _check_in_force(name: str, variant: Variant, library: Mpi) -> None:
    """Start the library once with the settings; UserError where one is unknown, not in force, or does not start."""
    study = Study.check(
        {
            "collectives": {"barrier": ["default"]},
            "ranks": 2,
            "sizes": [0],
            "launches": 1,
            "variants": {name: str(variant)},
        },
        f"variant {name!r}",
    )
    planned = Session.prepare(study, str(library.mpirun), oversubscribe=True).plan
    # The program's ranks may be bound in any way, and on other nodes it may call other collectives.
    check_variants(planned.on_shared_cores(1), build, components=False)
