"""The keys of a study: each is declared here, once.

From a row come the field of `Study` and its check, what an error says may be written, the option of the command line,
and the row of docs/study-files.md. `MeasureOptions` has its type in Python programs. A key that the measuring program
needs has a row in native/measure/files/plan_keys.def too. docs/how-to/add-a-study-key.md shows the steps.

Cheap to import, since every start of `timpani` builds its options from here: types are names in study/values.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

from timpani.study.defaults import DEFAULT_RANKS, DEFAULT_SIZES, LAUNCHES, MAX_LAUNCHES, MAX_LAUNCHES_IN_BUDGET
from timpani.study.sizes import LARGEST, LARGEST_SIZE, show_size

if TYPE_CHECKING:
    from timpani.study import values

WHAT, WHERE, HOW_WELL, FURTHER = "What is measured", "Where", "How long and how precisely", "Further"
"""The panels of options in `timpani run --help`."""

DATATYPES = {"uint8": 1, "int32": 4, "float": 4, "double": 8}
"""Element types and their bytes."""

MPI_DATATYPES = {
    **{f"MPI_{name}": 1 for name in ("BYTE", "CHAR", "SIGNED_CHAR", "UNSIGNED_CHAR", "INT8_T", "UINT8_T")},
    **{f"MPI_{name}": 2 for name in ("SHORT", "UNSIGNED_SHORT", "INT16_T", "UINT16_T")},
    **{f"MPI_{name}": 4 for name in ("INT", "UNSIGNED", "FLOAT", "INT32_T", "UINT32_T")},
    **{f"MPI_{name}": 8 for name in ("LONG", "UNSIGNED_LONG", "LONG_LONG", "DOUBLE", "INT64_T", "UINT64_T")},
}
"""MPI's names of datatypes, which imported campaigns have, and their bytes."""

OPERATORS = ("sum", "prod", "max", "min", "land", "lor", "lxor", "band", "bor", "bxor")
"""How collectives that reduce combine elements, as MPI names them."""

ROTATING: Final = "rotating"
"""In place of a root: another rank in each launch."""

REQUIRED: Final = object()


@dataclass(frozen=True)
class Option:
    """A study key as an option of the command line.

    shown      what help shows as the default; "": nothing
    type       what the shell's word is converted to
    flags      the option's names; empty: two dashes and the key's name
    switch     the key's value when the option, which then takes none, is given
    parameter  the name under which `compose` takes it; empty: the key's
    """

    panel: str
    help: str
    shown: str = ""
    type: type = str
    flags: tuple[str, ...] = ()
    switch: bool | None = None
    parameter: str = ""


@dataclass(frozen=True)
class Key:
    """What is known of one study key besides its name and type.

    default     REQUIRED where a study must name it
    expected    what may be written, as an error says it
    documented  its line in docs/study-files.md, Markdown
    may_change  whether a command that resumes a campaign may give another value
    """

    default: object
    expected: str
    documented: str
    option: Option | None = None
    may_change: bool = False


def key(
    default: object, expected: str, documented: str, option: Option | None = None, *, may_change: bool = False
) -> Any:
    """A row of the table; typed as `dataclasses.field` is, so that the row's annotation is the key's type."""
    return Key(default, expected, documented, option, may_change)


class StudyKeys:
    """The table, in the order in which keys are documented."""

    title: str = key("", "a text", "a heading for reports", may_change=True)
    question: str = key("", "a text", "what the study asks", may_change=True)
    collectives: values.Collectives = key(
        REQUIRED,
        'a table such as bcast = "all"',
        "table: operation → [algorithms](#algorithms). `timpani list operations`",
        Option(
            WHAT,
            "`all`, or a list: default,knomial,openmpi/chain:fanout=2:8.",
            "all, or the study's",
            parameter="algorithms",
        ),
    )
    ranks: values.RankCounts = key(
        REQUIRED,
        'whole numbers from 1, for example 2, [2, 4, 8] or "2:48+2"',
        f"[rank counts](#sizes-and-rank-counts); on the command line {DEFAULT_RANKS}",
        Option(
            WHAT,
            "2,4,8 or 2:256 (doubling) or 2:48+2.",
            f"{DEFAULT_RANKS}, or the study's",
            flags=("--ranks", "-n", "-np"),
        ),
    )
    sizes: values.Sizes = key(
        REQUIRED,
        f'bytes from 0 to {show_size(LARGEST_SIZE)}, for example 8, [8, 1024] or "1:1M"',
        f"[sizes](#sizes-and-rank-counts) in bytes; on the command line `{DEFAULT_SIZES}`. What a size counts "
        "depends on the operation: `timpani list operations`. A barrier has none",
        Option(
            WHAT,
            "Bytes, K = Ki = 1024: 8,64K or 1:1M (doubling), 4:64K*4 (factor), 1:4K+512 (step).",
            f"{DEFAULT_SIZES}, or the study's",
        ),
    )
    overrides: values.Overrides = key(
        {},
        "sizes, datatype, operator, root or in_place under [overrides.OPERATION]",
        "[other sizes or arguments](#sizes-of-one-operation) for one operation",
    )
    variants: values.Variants = key(
        {},
        "a table such as no-vader = '--mca btl ^vader'",
        "table: name → [settings](#variants) with which everything is measured too; `default` is always one, and sets "
        "nothing unless the table says otherwise",
        Option(
            WHAT,
            "'NAME: SETTINGS': also measure with --mca NAME VALUE, VARIABLE=VALUE, --mpi, --source, --module or"
            " --preload. Repeat the option for several variants.",
            "none, or the study's",
            list,
            flags=("--variant",),
        ),
    )
    figures: values.FigureChoices = key(
        {},
        "ranks, sizes or algorithms under [figures.NAME]",
        "[figures](#figures) that the study asks for: `timpani report --figures` writes these; without any the first "
        "of each family",
        may_change=True,
    )
    pairs: values.Pairs = key(
        "first",
        "first, all or distinct",
        "pairs of ranks for point-to-point operations that name none: `first` (0 and 1), `all`,"
        " or `distinct`: one "
        'pair for each [locality](glossary.md) of cores on this machine, foreseen only with `placement = "core"`',
        Option(WHAT, "Pairs of ranks for point-to-point operations: first, all or distinct.", "first"),
    )
    placement: values.Placements = key(
        ("core",),
        "core, socket, node or ppr:N, or a list of them",
        "one, or a list. `core` fills cores one after another; `socket` and `node` distribute"
        " ranks round-robin; `ppr:N` puts N ranks on each node. `category:C:N` puts N ranks on"
        " each node, with equally many nodes of each group. C = 1: group after group and node"
        " after node; 2: the same nodes, ranks round-robin; 3: nodes of alternating groups, ranks"
        " round-robin. `category:C:N:SEED`: the same with the groups shuffled",
        Option(WHERE, "core, socket, node or ppr:N.", "core"),
    )
    mode: values.CacheMode = key(
        "warm",
        "warm, rotate or flush",
        "the [cache](methodology.md#buffers-and-data): `warm`, `rotate` or `flush`",
        Option(WHAT, "Cache: warm, rotate or flush.", "warm"),
    )
    arrival: values.Arrival = key(
        "together",
        "together, one_late:D, sorted:D or random:D",
        "how late ranks enter each collective: [arrival patterns](methodology.md#arrival-patterns) `together`,"
        " `one_late:D`, `sorted:D` or `random:D`. D is a time such as `50us`, or `2x` the time of the library's"
        " default call",
        Option(
            WHAT,
            "How late ranks enter: together, one_late:50us, sorted:2x or random:1ms.",
            "together",
        ),
    )
    weights: values.PointWeights = key(
        (),
        "a list of tables with collective, ranks, placement, message_bytes and share",
        "the time of each point's calls in a program, as a share of its time in MPI: only these points are measured, "
        "each with its placement. A `regret` is then what all choices may lose together, as a share of that time"
        " ([how](how-to/speed-up-a-program.md#when-the-race-stops)). `--for PROFILE` records them here",
    )
    method: values.Method = key(
        "timpani",
        "timpani or osu",
        "or [`osu`](methodology.md#the-osu-method)",
        Option(HOW_WELL, "timpani, or osu: OSU's own protocol, for comparison.", "timpani"),
    )
    osu: values.OsuCounts | None = key(
        None,
        "warmup and repetitions under [osu]",
        "`warmup` and `repetitions` of the study's own runs by OSU's protocol: `--method osu` takes them, unless `-x` "
        "and `-i` give others",
    )
    datatype: values.Datatype = key(
        "uint8",
        f"one of {', '.join(DATATYPES)}",
        "`uint8`, `int32`, `float` or `double`; sizes must be whole numbers of it",
        Option(WHAT, "uint8, int32, float or double.", "uint8"),
    )
    operator: values.Operator = key(
        "sum",
        f"one of {', '.join(OPERATORS)}",
        f"of collectives that reduce: {', '.join(f'`{name}`' for name in OPERATORS)}; the last six only of `uint8` and "
        "`int32`",
        Option(WHAT, "The operator of reductions: sum, prod, max, min, land, lor, lxor, band, bor or bxor.", "sum"),
    )
    root: values.Root = key(
        0,
        f"a rank from 0, or {ROTATING}",
        "of collectives with a root: a rank of every rank count, or `rotating`, another rank in each launch",
        Option(WHAT, "The root, if a collective has one: a rank, or rotating.", "0"),
    )
    in_place: bool = key(
        False,
        "true or false",
        "whether collectives pass `MPI_IN_PLACE`, at the root alone where MPI says so; a broadcast has one buffer "
        "anyway. Repeated reductions in place combine their own results",
        Option(WHAT, "Pass MPI_IN_PLACE.", "no", bool, switch=True),
    )
    launches: values.LaunchCount = key(
        LAUNCHES,
        "a whole number from 1 to 10000",
        "launches, each with a new start of the MPI program, 1 to 10,000;"
        " [6 for a 95 % interval](methodology.md#launches)",
        Option(
            HOW_WELL,
            f"Number of launches; each starts the MPI program anew. In a race the maximum: by default"
            f" {MAX_LAUNCHES}, with a budget {MAX_LAUNCHES_IN_BUDGET}.",
            str(LAUNCHES),
            int,
        ),
        may_change=True,
    )
    regret: values.Regret | None = key(
        None,
        'a share between 0 and 1, for example 0.02 or "2%"',
        "race: stop measuring algorithms that cannot be the best. A point ends when the 95 % bound of the choice's "
        'regret is at most this [share](methodology.md#races), for example `"2%"`, or when more launches would hardly '
        "decide it. With a `budget` it ends when that is spent. `launches` is then the maximum, "
        f"{MAX_LAUNCHES} unless given, {MAX_LAUNCHES_IN_BUDGET} with a budget",
        Option(
            HOW_WELL,
            "Race: drop algorithms that cannot be the best. A point ends when its chosen algorithm is at most this much"
            " (such as 2%) slower than the best, or when more launches would hardly help (with --budget: when the"
            " budget is spent).",
            "everything in all launches",
        ),
    )
    precision: values.Share = key(
        0.05,
        "a share between 0 and 1, for example 0.05",
        "a cell ends when half the width of its 95 % interval in a launch is at most this share"
        " of the median; between 0 and 1",
        Option(
            HOW_WELL,
            "Stop repeating an algorithm at a size when its median is known to ± this share (95 % interval).",
            "0.05",
            float,
        ),
    )
    slot: values.Seconds = key(
        0.1,
        "a duration, for example 50ms or 1s",
        "longest time for one cell in one launch, [duration](#durations)",
        Option(HOW_WELL, "Longest time for a cell in a launch: 50ms, 1s.", "100ms"),
    )
    budget: values.Seconds | None = key(
        None,
        "a duration, for example 90s, 10m or 2h",
        "longest time of one command, [duration](#durations), after its programs are built; slots"
        " shrink to fit, down to 2 ms. Every algorithm has an answer at few points first",
        Option(HOW_WELL, "Longest time for everything: 90s, 10m, 2h.", "none"),
        may_change=True,
    )
    seed: values.Natural = key(
        1,
        f"a whole number from 0 to {LARGEST}",
        "seed of the order of cells and groups in each launch",
        Option(FURTHER, "Seed of the measurement order.", "1", int),
    )
    warmup: values.Natural | None = key(
        None,
        f"a whole number from 0 to {LARGEST}",
        'calls before the timed ones; for collectives only with `method = "osu"`',
        Option(
            HOW_WELL,
            "Number of calls before the timed ones. For collectives it needs --method osu.",
            "until steady",
            int,
            ("--warmup", "-x"),
        ),
    )
    repetitions: values.Positive | None = key(
        None,
        f"a whole number from 1 to {LARGEST}",
        "timed calls; the same condition",
        Option(
            HOW_WELL,
            "Number of timed calls. For collectives it needs --method osu.",
            "until precise",
            int,
            ("--iterations", "-i"),
        ),
    )
    rules: str | None = key(
        None,
        "the name of a file of rules",
        "a file that `timpani rules` wrote: each collective is also measured with its calls replaced by these "
        "rules, as `timpani/rules`",
        Option(
            WHAT, "What `timpani rules` wrote: also measure the library with these rules, as timpani/rules.", type=Path
        ),
        may_change=True,  # the file may have moved: a campaign compares its text
    )
    tuned: str | None = key(
        None,
        "the name of a folder that `timpani tune` wrote",
        "a folder that `timpani tune` wrote: each collective is also measured with the library's tuning files switched "
        "on, for example as `openmpi/tuned`",
        may_change=True,  # as `rules`
    )
    include_setup: bool = key(
        False,
        "true or false",
        "`true`: each call of a Timpani or composed algorithm builds its communicators and plans,"
        " which are otherwise built once. The operation `setup` times only this",
        Option(
            WHAT,
            "Include setup: each call of a Timpani or composed algorithm builds its communicators and plan.",
            switch=True,
        ),
    )
    clean_environment: bool = key(
        False,
        "true or false",
        "`true`: starts do without your variables that set an MPI library or its transports, and without your parameter"
        " files of Open MPI, PMIx and MPICH's launcher. The run names all that it leaves out. Variants keep what they"
        " set",
        Option(WHERE, "Ignore your variables and parameter files that set the library; print each.", switch=True),
    )
    probe: bool = key(
        True,
        "true or false",
        "whether the state of the machine is probed before and after each point, about 20 µs each; `--no-probe`",
        Option(
            HOW_WELL,
            "Don't probe the state of the machine before and after each point (20 µs each).",
            flags=("--no-probe",),
            switch=False,
        ),
    )


KEYS: Mapping[str, Key] = {name: row for name, row in vars(StudyKeys).items() if isinstance(row, Key)}
"""Each key by its name."""


class MeasureOptions(TypedDict, total=False):
    """The options of `timpani.measure`, for editors and type checkers: every key, and `algorithms` for all operations.

    A text is written as on the command line: `sizes="1:1M"`, `budget="10m"`.
    """

    title: str
    question: str
    collectives: Mapping[str, str | Sequence[str]]
    algorithms: str | Sequence[str]
    ranks: int | str | Sequence[int]
    sizes: int | str | Sequence[int]
    overrides: Mapping[str, Mapping[str, Any]]
    variants: Mapping[str, Any] | Sequence[str]
    figures: Mapping[str, Mapping[str, Any]]
    pairs: values.Pairs
    placement: str | Sequence[str]
    mode: values.CacheMode
    arrival: str
    weights: Sequence[Mapping[str, Any]]
    method: values.Method
    osu: Mapping[str, int]
    datatype: values.Datatype
    operator: values.Operator
    root: int | Literal["rotating"]
    in_place: bool
    launches: int
    regret: float | str
    precision: float
    slot: float | str
    budget: float | str
    seed: int
    warmup: int
    repetitions: int
    rules: str
    tuned: str
    include_setup: bool
    clean_environment: bool
    probe: bool
