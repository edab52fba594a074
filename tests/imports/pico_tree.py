"""A made-up tree of PICO's results."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from timpani.imports.pico_files import PicoResult, read_archives

COLUMNS = (
    "timestamp,test_id,nnodes,tasks_per_node,collective_type,mpi_lib,mpi_lib_version,libbine_version,gpu_awareness,"
    "gpu_lib,gpu_lib_version,output_level,MPI_Op,notes"
)
TIMES = (9000, 8000, 2100, 2000, 1900, 2050, 2000, 2010, 1990, 2000)
"""In the order of the calls: the first fifth is warm-up."""


@dataclass
class Tree:
    """A made-up results tree; rows of the metadata are typed, as PICO's users do."""

    root: Path
    rows: dict[str, list[str]] = field(default_factory=dict)
    written: int = 0

    def test(
        self,
        archive: str = "2025_03_16___14_58_59",
        test: int = 0,
        *,
        files: Sequence[str] = ("512_ring_over_int32.csv",),
        system: str = "desk",
        nodes: str = "2",
        tasks: str = "2",
        collective: str = "ALLREDUCE",
        library: str = "OMPI,4.1.6",
        gpu: str = "no",
        note: str = "null",
        times: Sequence[int] = TIMES,
        end: str = "",
    ) -> Path:
        """Add a test with files of times, which differ a little."""
        about = f"{archive},{test},{nodes},{tasks},{collective},{library},1.0.0,{gpu},null,null,summarized,null,{note}"
        self.rows.setdefault(system, [COLUMNS]).append(about)
        folder = self.root / system / archive / str(test)
        folder.mkdir(parents=True)
        (self.root / f"{system}_metadata.csv").write_text("\n".join(self.rows[system]) + "\n")
        for file in files:
            shift = self.written = self.written + 1
            (folder / file).write_text("highest\n" + "".join(f"{time + shift}\n" for time in times) + end)
        return folder

    def hosts(self, ranks: int, per_node: int, name: str = "alloc.csv", archive: str = "2025_03_16___14_58_59") -> None:
        """Write an archive's list of ranks."""
        lines = [f"{rank},n{rank // per_node}" for rank in range(ranks)]
        (self.root / "desk" / archive / name).write_text("\n".join(["MPI_Rank,allocation", *lines, ""]))

    @property
    def results(self) -> list[PicoResult]:
        return [each for job in read_archives([self.root]).jobs for each in job]

    def only(self) -> PicoResult:
        [result] = self.results
        return result
