"""The parts of campaign.json: study, library, variants and plan, as they are recorded and read again."""

import re
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from timpani.campaign.folder.fields import Count
from timpani.libraries.registry import library_title
from timpani.machine.describe import Printable
from timpani.native.mpi import Mpi
from timpani.study.cell import TOGETHER
from timpani.study.keys import DATATYPES, MPI_DATATYPES
from timpani.study.operations import CallArguments
from timpani.study.values import FigureChoices, PointWeights

_MPIS_NAMES = re.compile(r"MPI_\w{1,60}(, MPI_\w{1,60}){0,15}", re.ASCII)


def _datatype(text: str) -> str:
    if text not in DATATYPES and not _MPIS_NAMES.fullmatch(text):
        raise ValueError("it is not a datatype")
    return text


class HeaderPart(BaseModel):
    """A part of the header. Imported campaigns have fewer keys."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class RecordedOverride(HeaderPart):
    """What the study says of one operation; None: the same as of the others."""

    datatype: Annotated[str, AfterValidator(_datatype)] | None = None
    operator: Printable | None = None
    root: int | Printable | None = None
    in_place: bool | None = None


class RecordedStudy(HeaderPart):
    """The study as it was measured: what is read of it. An imported one has `files` and no `launches`.

    datatype  one of DATATYPES, or of an import MPI's name, or several
    """

    title: Printable = ""
    question: Printable = ""
    collectives: dict[Printable, tuple[Printable, ...]] = {}
    ranks: tuple[Count, ...] = ()
    sizes: tuple[Count, ...] = ()
    overrides: dict[str, RecordedOverride] = {}
    figures: FigureChoices = {}
    mode: Printable = "warm"
    arrival: Printable = TOGETHER
    weights: PointWeights = ()
    method: Printable = "timpani"
    datatype: Annotated[str, AfterValidator(_datatype)] = "uint8"
    operator: Printable = "sum"
    root: int | Printable = 0
    in_place: bool = False
    launches: Count | None = None
    regret: Annotated[float, Field(gt=0, lt=1)] | None = None
    budget: Annotated[float, Field(gt=0)] | None = None
    precision: Annotated[float, Field(ge=0, le=1)] = 0.05
    seed: Count | None = None
    warmup: Count | None = None
    repetitions: Count | None = None
    include_setup: bool = False
    probe: bool = False
    files: tuple[Printable, ...] = ()

    def datatype_of(self, operation: str) -> str:
        """The operation's own, or else the study's."""
        own = self.overrides.get(operation)
        return own.datatype if own and own.datatype else self.datatype

    def arguments_of(self, operation: str) -> CallArguments:
        """The arguments of an operation's calls."""
        own = self.overrides.get(operation, RecordedOverride())

        def chosen(name: str) -> Any:
            given = getattr(own, name)
            return getattr(self, name) if given is None else given

        return CallArguments(self.datatype_of(operation), chosen("operator"), chosen("root"), chosen("in_place"))

    def element_bytes_of(self, operation: str) -> int:
        """Bytes of an element of `datatype_of`; 1 of a datatype that is unknown, or of several in an import."""
        return {**DATATYPES, **MPI_DATATYPES}.get(self.datatype_of(operation), 1)

    @property
    def at_deadline(self) -> bool:
        """Whether ranks started calls at a common deadline: OSU's and imported ones start after a barrier."""
        return self.method != "osu" and not self.files


class PlannedPoints(HeaderPart):
    """What was planned on one rank count: the sizes of one operation."""

    ranks: Count
    placement: Printable
    sizes: tuple[Count, ...]


class PlannedOperation(HeaderPart):
    """What was planned of one operation: labels of its algorithms, and where they were to be measured."""

    algorithms: tuple[Printable, ...]
    points: tuple[PlannedPoints, ...]


class RecordedMpi(HeaderPart):
    """The library; `kind` is the provider of an import's algorithms."""

    kind: Printable = ""
    version: Printable = ""
    mpirun: Printable = ""

    @classmethod
    def from_mpi(cls, mpi: Mpi) -> Self:
        """The library that a campaign starts."""
        return cls(kind=mpi.kind, version=mpi.version, mpirun=str(mpi.mpirun))

    @property
    def title(self) -> str:
        """Name and version, for people; "" where the header has neither."""
        return library_title(self.kind, self.version)


class RecordedSetting(HeaderPart):
    """A control variable with its value, and its value with `default`."""

    name: Printable
    default: Printable
    value: Printable


class RecordedVariant(HeaderPart):
    """A variant as it was started.

    changed     control variables that differ from the default's, or of another library from it with nothing set; None
                where that library can't start without the variant's script or modules, or was not started
    components  by measured collective, the component of the library that runs it; empty if the library shows none
    unchecked   names of its settings whose value in force the library doesn't show
    """

    settings: Printable
    mpi: RecordedMpi
    changed: tuple[RecordedSetting, ...] | None = None
    components: dict[Printable, Printable] = {}
    unchecked: tuple[Printable, ...] = ()


class MergedCampaign(HeaderPart):
    """One of the campaigns that a merged campaign holds.

    machine  its machine's name in the results
    launches the first and the last of its launches' numbers
    header   its campaign.json
    """

    id: Printable
    machine: Printable
    launches: tuple[Count, Count]
    header: dict[str, Any]

    def has_launch(self, number: int | None) -> bool:
        """Whether a launch is one of its launches."""
        first, last = self.launches
        return number is not None and first <= number <= last
