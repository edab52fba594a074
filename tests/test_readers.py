"""Whatever a file holds, its reader reads it or refuses it in one line: never a traceback, never slow, never large.

Each reader takes a few damaged contents here, and `python -m tests.test_readers COUNT SEED [NAME…]` more.
"""

import gzip
import json
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from random import Random
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from typing import Any

import pytest
from bench.common.mutate import mutate

import timpani
from tests.campaign_files import RESULT_DEFAULTS, write_header, write_lines
from tests.imports.pico_tree import COLUMNS, Tree
from tests.installed import FOUND, needs_mpi
from tests.libraries.test_intel import CATALOGUE as INTEL
from tests.libraries.test_intel import MPI as INTEL_MPI
from tests.libraries.test_mpich_tree import CATALOGUE as MPICH
from tests.libraries.test_mpich_tree import COMPOSITIONS, LIBRARY
from tests.libraries.tuned_tables import CATALOGUES, mpi
from timpani.campaign.folder.header import read_header
from timpani.campaign.folder.load import load, verify
from timpani.campaign.folder.raw_record import hashes_of, read_whole_lines, unpack
from timpani.campaign.folder.sealed import checksum, seal_object
from timpani.campaign.read.campaign_warnings import load_warnings
from timpani.campaign.read.message_locality import with_locality
from timpani.campaign.run.prove import indistinct
from timpani.errors import UserError
from timpani.imports.log_import import BenchmarkLog, import_logs
from timpani.imports.pico_files import read_archives
from timpani.judge.cell_table import estimate_cells
from timpani.judge.raced import raced_results
from timpani.libraries.intel.adjust_file import AdjustFile
from timpani.libraries.mpich.selection_tree import dump
from timpani.libraries.mpich.tree_file import CompositionsFile, TreeFile, linted
from timpani.libraries.openmpi.classic_rules import TunedRules
from timpani.libraries.openmpi.han_rules import HanRules
from timpani.libraries.tuning_file import Fault, FileDecisions, TuningFile
from timpani.machine.batch.batch_system import BatchJob, NodeShape
from timpani.machine.batch.slurm_jobs import groups_of, parse_counts, parse_sinfo, parse_topology
from timpani.machine.lab.lab import parse_rate
from timpani.machine.nodes.host_list import choose_hosts, read_hosts, requested_places
from timpani.machine.nodes.model import Machine, expand, read_machine
from timpani.machine.platform import machine_of, shipped_platforms
from timpani.native.build import build_without_mpi
from timpani.report.document.text import text_of
from timpani.report.page.methods import methods_paragraph, provenance
from timpani.report.tables.campaign_tables import cell_tables
from timpani.schedules.algorithms.verification import parse_range
from timpani.schedules.predict.output import FILE
from timpani.schedules.predict.stored import compare_predicted, predicted_sentence, stored_predictions
from timpani.stats.regression import parse_formula
from timpani.study.cell import Algorithm, check_placement, split_algorithms
from timpani.study.selection import Call
from timpani.study.sizes import parse_sizes
from timpani.study.study import read_study
from timpani.study.values import parse_duration, parse_ranks
from timpani.tune import table_file

DATA = Path(__file__).parent / "data"

CELL = {
    "collective": "latency",
    "variant": "default",
    "provider": "openmpi",
    "algorithm": "default",
    "parameters": "first=0,second=1",
    "ranks": 2,
    "placement": "core",
    "message_bytes": 8,
    "mode": "warm",
    "arrival": "together",
}
PICO_METADATA = (
    f"{COLUMNS}\n2025_03_16___14_58_59,0,2x2,2,BCAST,OMPI,4.1.6,1.0.0,no,null,null,summarized,null,rail 4\n".encode()
)
TIMES = {"median_us": 1.5, "osu_avg_us": 2.0, "error": None}
RESULTS: list[dict[str, Any]] = [
    {**RESULT_DEFAULTS, **CELL, "launch": number, "machine": "desk", **TIMES} for number in (1, 2)
]
LAUNCHES: list[dict[str, Any]] = [
    {
        "launch": n,
        "part": f"000{n}-1",
        "placement": "core",
        "command": ["mpirun"],
        "environment": {"A": "b"},
        "seconds": 1.0,
        "exit": 0,
        "clock_error_ns": 4.0,
        "asked": [{"host": "desk", "socket": 0, "core": 0}, {"host": "desk", "socket": None, "core": 1}],
        "ranks": [{"rank": rank, "host": "desk", "cores": [rank], "sockets": [0]} for rank in (0, 1)],
        "machines": [{"host": "desk", "cores": 2, "seconds": 1.0, "busy_s": 0.5, "own_s": 0.1, "steal_s": 0.3}],
    }
    for n in (1, 2)
]
ENDINGS: list[dict[str, Any]] = [
    {"part": "0001-1", "seconds": 2.0, "exit": 0, "ended": "finished", "results": 0, "slot_s": 0.5, "library": "x"}
]
PROOF = {**CELL, "collective": "bcast", "parameters": "", "messages": [[0, 1], [0, 0]], "bytes": [[0, 8], [0, 0]]}
PROOFS: list[dict[str, Any]] = [PROOF]
GROUP = {"name": "g", "nodes": ["desk", "n2"], "cores": 4, "sockets": 2}
IDENTITY = "0123456789abcdef"
HEADER: dict[str, Any] = {
    "format": "timpani-campaign",
    "version": 1,
    "id": IDENTITY,
    "created": "2026-01-01",
    "study": {
        "title": "t",
        "collectives": {"bcast": ["all"]},
        "ranks": [2],
        "sizes": [8, 16],
        "launches": 2,
        "seed": 1,
    },
    "machine": {
        "name": "desk",
        "cpu": "Example",
        "cores": 4,
        "domains": {"core": ["0", "1"], "socket": ["0-1"]},
        "launcher": "openmpi",
        "groups": [GROUP],
        "hosts": [{"name": "desk", "slots": 4}],
        "link": "1gbit",
    },
    "mpi": {"kind": "openmpi", "version": "5.0.11"},
    "commands": ["timpani run bcast"],
}
SAMPLES: list[dict[str, Any]] = [
    {"world": 2, "library": "x", "ranks": LAUNCHES[0]["ranks"], "clocks": 1, "clock_error_ns": 1, "null_ns": 3},
    {"begin": 0},
    {
        "cell": 0,
        "measured": {
            "completion_ns": [5, 6, 7],
            "average_ns": [4, 5, 6],
            "skew_ns": [0, 1, 0],
            "rank_mean_ns": [4.5, 5],
            "stopped_by": "precision",
            "converged": True,
            "effective_size": 3,
            "median_interval_ns": [5, 7],
        },
    },
    {"cell": 1, "mistake": "wrong\nbyte"},
    {"end": True, "clock_error_ns": 2, "machines": LAUNCHES[0]["machines"]},
]


def lines(values: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(each) + "\n" for each in values).encode()


def checked_lines(raw: bytes) -> bytes:
    """Each line of `raw` with a checksum that fits it: the reader has to look at the rest."""
    bodies = [line.rstrip().removesuffix(b"}") for line in raw.splitlines()]
    return b"".join(body + b',"crc32":"%08x"}\n' % zlib.crc32(body) for body in bodies)


def sealed_lines(raw: bytes, name: str) -> bytes:
    """Each line of `raw` with its number, and its checksum in the file `name`."""
    bodies = [
        line.rstrip().removesuffix(b"}") + f', "line": {number}'.encode()
        for number, line in enumerate(raw.splitlines(), 1)
    ]
    sealed_for = f"{IDENTITY}/{name}"
    return b"".join(body + f', "checksum": "{checksum(body, sealed_for)}"}}\n'.encode() for body in bodies)


def campaign(name: str) -> Callable[[bytes, Path], object]:
    """A reader of the file `name` of a campaign whose other files are whole."""
    files = {
        "campaign.json": json.dumps(HEADER, indent=1).encode(),
        "results.jsonl": lines(RESULTS),
        "launches.jsonl": lines(LAUNCHES),
        "endings.jsonl": lines(ENDINGS),
        "proofs.jsonl": lines(PROOFS),
    }

    def read(raw: bytes, folder: Path) -> None:
        for each, content in files.items():
            text = raw if each == name else content
            (folder / each).write_bytes(seal_object(text) if each == "campaign.json" else sealed_lines(text, each))
        verify(folder, read_header(folder))
        found = load(folder)
        cells = with_locality(estimate_cells(raced_results(found)), found)
        said = [
            text_of(cell_tables(cells)),
            *load_warnings(found.launches),
            methods_paragraph(found.header, found.launches),
            *(text for _, texts in provenance(found.header, found.launches) for text in texts),
            *indistinct(found.proofs),
        ]
        assert not [text for text in said if "\x1b" in text]

    return read


def machine(raw: bytes, folder: Path) -> None:
    (folder / "m.toml").write_bytes(raw)
    _places(folder, read_machine(folder / "m.toml"))


def platform(raw: bytes, folder: Path) -> None:
    (folder / "p.xml").write_bytes(raw)
    _places(folder, machine_of(folder / "p.xml"))


def _places(folder: Path, found: Any) -> None:
    for placement in ("core", "socket", "node", "ppr:2"):
        requested_places(found, choose_hosts(found), placement, 4)


def osu(raw: bytes, folder: Path) -> None:
    path, made = folder / "osu.log", Path(tempfile.mkdtemp(dir=folder)) / "c"
    path.write_bytes(raw)
    logs = [BenchmarkLog.parse(str(path), "default")]
    import_logs(logs, made, ranks=2, machine="desk", datatype="MPI_CHAR", command="timpani import")
    text_of(cell_tables(estimate_cells(raced_results(load(made)))))


def pico(file: str) -> Callable[[bytes, Path], object]:
    """A tree of PICO's results in which one file has other bytes."""

    def read(raw: bytes, folder: Path) -> None:
        tree = Tree(Path(tempfile.mkdtemp(dir=folder)))
        tree.test()
        (tree.root / "desk" / file).write_bytes(raw)
        read_archives([tree.root])

    return read


def predictions(raw: bytes, folder: Path) -> None:
    write_header(folder, **HEADER)
    write_lines(folder / "results.jsonl", RESULTS)
    campaign, place = load(folder), folder / "predicted"
    place.mkdir(exist_ok=True)
    (place / "predictions.json").write_bytes(seal_object(raw, FILE.sealed_for))
    compared = compare_predicted(estimate_cells(raced_results(campaign)), stored_predictions(place, campaign))
    assert all(text.isprintable() for text in (predicted_sentence(compared), *compared.predictions.left_out))


def in_file(read: Callable[[Path], object]) -> Callable[[bytes, Path], object]:
    def into(raw: bytes, folder: Path) -> object:
        (folder / "file").write_bytes(raw)
        return read(folder / "file")

    return into


def selection(raw: bytes, folder: Path) -> None:
    (folder / "file").write_bytes(seal_object(raw, table_file.FILE.sealed_for))
    table_file.read_table(folder / "file")


def as_text(read: Callable[[str], object], errors: str = "surrogateescape") -> Callable[[bytes, Path], object]:
    return lambda raw, folder: read(raw.decode(errors=errors))


def slurm_tables(text: str) -> None:
    parse_counts(text)
    shapes = {node: NodeShape(4, 2, 1) for node in ("n1", "n2")} | parse_sinfo(text)
    groups = groups_of(shapes, parse_topology(text))
    found = Machine.check({"name": "m", "launcher": "openmpi", "groups": groups}, "text")
    assert sorted(node for group in found.groups for node in group.nodes) == sorted(shapes)


def hosts(path: Path) -> None:
    found = read_hosts(path)
    assert len({host.name for host in found}) == len(found) > 0


def node_set(text: str) -> None:
    names = expand(text)
    assert len(set(names)) == len(names)


def algorithms(text: str) -> None:
    for each in split_algorithms(text):
        Algorithm.parse(each)


def formula(text: str) -> None:
    parse_formula(text, ("ranks", "size", "latency"))


def raw_samples(raw: bytes, folder: Path) -> None:
    (folder / "file").write_bytes(checked_lines(raw))
    read_whole_lines(folder / "file", 0)


def packed_samples(raw: bytes, folder: Path) -> None:
    plain = folder / "samples.jsonl"
    plain.unlink(missing_ok=True)
    (folder / "samples.jsonl.gz").write_bytes(raw)
    hashes_of(folder)
    unpack(plain)
    read_whole_lines(plain, 0)


def mpich_tree(text: str) -> None:
    plain(linted(text, LIBRARY, "algorithms"))
    chosen(TreeFile().read(text, MPICH))


def mpich_compositions(text: str) -> None:
    plain(linted(text, LIBRARY, "compositions"))
    chosen(CompositionsFile().read(text, MPICH))


def openmpi_rules(file: TuningFile, *versions: str) -> Callable[[str], None]:
    def read(text: str) -> None:
        for version in versions:
            plain(file.lint(text, CATALOGUES[version], mpi(version)))
        file.recognizes(text)
        chosen(file.read(text, CATALOGUES[versions[-1]]))

    return read


def intel_variables(text: str) -> None:
    file = AdjustFile()
    plain(file.lint(text, INTEL, INTEL_MPI))
    file.switch_on(Path(file.name), text, INTEL_MPI)
    chosen(file.read(text, INTEL))


@cache
def checker() -> Path:
    """The program that reads rules as libtimpani.so does."""
    return build_without_mpi(FOUND[0]) / "timpani-rules-check"


def preload_rules(path: Path) -> None:
    done = subprocess.run([checker(), path], capture_output=True, encoding="utf-8", errors="replace")
    assert done.returncode in (0, 2), done
    said = done.stderr.removesuffix("\n")
    assert said.isprintable(), said
    assert len(said) < 1300
    if done.returncode:
        raise UserError(said, "correct it")


def plain(found: Iterable[Fault]) -> None:
    for fault in found:
        said = f"{fault.what}: {fault.consequence}; {fault.fix}"
        assert said.isprintable()
        assert len(said) < 1300


def chosen(choice: FileDecisions) -> None:
    for ranks in (2, 4, 9):
        for message_bytes in (0, 8, 2**30):
            choice.decide(Call("bcast", ranks, 2, 2, message_bytes))


MACHINE = DATA / "machines" / "tree" / "machine.toml"
SLURM = b"48(x2),24\nn1 2 12 2\nSwitchName=s1 Nodes=n[1-2]\nSwitchName=s2 Switches=s1\n"

TREE = b"""{
 "collective=bcast": {
  "comm_size<=8": {"algorithm=MPIR_Bcast_intra_binomial": {}},
  "comm_size=any": {"algorithm=MPIR_Bcast_intra_tree": {"k=4": {}, "tree_type=kary": {}, "is_non_blocking=1": {}}}
 }
}
"""

TUNED = b"""rule-file-version-2
1
7 # bcast
2
0 1
0 0 0 0
8 3
0 6 0 0
4096 3 4 65536 2
65536 0 0 0
"""
HAN = b"""2
bcast 1 global_communicator 2
1 1
0 han
8 2
0 han
4096 tuned
reduce 1 intra_node 1
1 1
0 han @simple
"""

TABLE: dict[str, Any] = {
    "format": "timpani-selection",
    "version": 1,
    "library": "openmpi",
    "library_version": "5.0.11",
    "source": "a campaign",
    "campaigns": ["c"],
    "rules": [
        {
            "collective": "bcast",
            "algorithm": "openmpi/chain:fanout=4",
            **{name: {"first": 2, "last": None} for name in ("ranks", "nodes", "per_node", "bytes")},
            "regret": 0.5,
            "evidence": [{"bytes": 8, "gain": 1.5, "gain_low": 1.2, "gain_high": None, "launches": 9}],
        }
    ],
    "gaps": [{"collective": "bcast", "ranks": 2, "nodes": 1, "before": 8, "after": 64}],
    "measured": {"bcast": {"first": 8, "last": 64}},
}

PREDICTIONS: dict[str, Any] = {
    "status": "predicted",
    "machine": "desk",
    "placement": "core",
    "campaigns": ["c"],
    "library": "Open MPI 4.1.4",
    "left_out": ["bcast: linear"],
    "predictions": [
        {
            **{
                name: CELL[name]
                for name in ("collective", "provider", "algorithm", "parameters", "ranks", "message_bytes")
            },
            **{"predicted_us": 1.0, "low_us": 0.5, "high_us": None},
        }
    ],
}

OSU_LOG = b"""0: # OSU MPI-CUDA Multiple Bandwidth / Message Rate Test v7.4
0: # [ pairs: 1 ] [ window size: 64 ]
0: # Send Buffer on DEVICE (D) and Receive Buffer on HOST (H)
0: # Size                  MB/s        Messages/s
0: 8                      60,00        7500000.00
# OSU MPI_Put Latency Test v5.8
# Size          Latency (us)
4                       0.20
"""

RULES = b"""timpani-rules 1
# gains are of 12 launches
bcast ranks=2..8 nodes=1..2 per_node=2..4 bytes=8..64 pipeline:segment_bytes=64  # 1.50 x
allreduce bytes=1024.. ring
end 2
"""

PRELOAD_RULES = "the preload's rules"

READERS: dict[str, tuple[Callable[[bytes, Path], object], bytes]] = {
    "campaign.json": (campaign("campaign.json"), json.dumps(HEADER, indent=1).encode()),
    "results.jsonl": (campaign("results.jsonl"), lines(RESULTS)),
    "launches.jsonl": (campaign("launches.jsonl"), lines(LAUNCHES)),
    "endings.jsonl": (campaign("endings.jsonl"), lines(ENDINGS)),
    "proofs.jsonl": (campaign("proofs.jsonl"), lines(PROOFS)),
    "raw samples": (raw_samples, lines(SAMPLES)),
    "packed samples": (packed_samples, gzip.compress(checked_lines(lines(SAMPLES)), mtime=0)),
    "PICO's times": (pico("2025_03_16___14_58_59/0/512_ring_over_int32.csv"), b"highest,rank0\n9000,1\n2100,2000\n"),
    "PICO's ranks": (pico("2025_03_16___14_58_59/alloc.csv"), b"MPI_Rank,allocation\n0,n0\n1,n0\n2,n1\n3,n1\n"),
    "PICO's metadata": (pico("../desk_metadata.csv"), PICO_METADATA),
    "OSU": (osu, b"".join(path.read_bytes() for path in sorted((DATA / "osu").glob("*"))[:3]) + OSU_LOG),
    "study": (in_file(read_study), (Path(timpani.__file__).parent / "demo.toml").read_bytes()),
    "machine": (machine, MACHINE.read_bytes()),
    "platform": (platform, next(iter(shipped_platforms().values())).read_bytes()),
    "hosts": (in_file(hosts), b"n1\nn[2-4] slots=2 # fat\nfat1:8\n"),
    "node set": (as_text(node_set), b"node[01-08,10],rack[1-2]-n[1-2], a"),
    "Slurm's tables": (as_text(slurm_tables), SLURM),
    "Slurm job": (as_text(BatchJob.parse), b"slurm:main,nodes=2,tasks=4,time=1:00:00,modules=gcc+openmpi/5.0"),
    "ranks": (as_text(parse_ranks), b"2,4,8:64,2:48+2"),
    "MPICH's tree": (as_text(mpich_tree), TREE),
    "MPICH's compositions": (as_text(mpich_compositions), dump(COMPOSITIONS).encode()),
    "Open MPI's rules": (as_text(openmpi_rules(TunedRules(), "4.1.4", "5.0.11"), "replace"), TUNED),
    "HAN's rules": (as_text(openmpi_rules(HanRules(), "5.0.11"), "replace"), HAN),
    "Intel's variables": (
        as_text(intel_variables),
        b"export I_MPI_ADJUST_BCAST='3:0-7;1:8-99@2-4'\n# so\nmpirun -genv I_MPI_ADJUST_REDUCE 1 ./a\n",
    ),
    "selection table": (selection, json.dumps(TABLE).encode()),
    "predictions": (predictions, json.dumps(PREDICTIONS).encode()),
    "sizes": (as_text(parse_sizes), b"1:1M,64K:256KiB*4,8,2:48+2"),
    "range": (as_text(lambda text: parse_range(text, 1)), b"2:64"),
    "rate": (as_text(parse_rate), b"2.5gbit"),
    "placement": (as_text(check_placement), b"category:2:4"),
    "algorithms": (as_text(algorithms), b"default,openmpi/chain:fanout=4,segment_bytes=8192,timpani/ring"),
    "formula": (as_text(formula), b"log2(latency) ~ ranks + log2(size):ranks^2 - 1"),
    "duration": (as_text(parse_duration), b"1.5h"),
    PRELOAD_RULES: (in_file(preload_rules), RULES),
}


def refusal(read: Callable[[bytes, Path], object], raw: bytes, folder: Path) -> str:
    """What a reader says of a content that it refuses; nothing where it reads it."""
    try:
        read(raw, folder)
    except UserError as error:
        return str(error)
    return ""


def processor_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    spent = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in spent)


def take(name: str, count: int, seed: int, folder: Path) -> float:
    """Give `count` damaged contents to a reader; returns processor seconds of the slowest, its programs' too."""
    read, whole = READERS[name]
    assert refusal(read, whole, folder) == ""
    random = Random(f"{name} {seed}")
    slowest = 0.0
    for _ in range(count):
        raw = mutate(whole, random)
        began = processor_seconds()
        try:
            said = refusal(read, raw, folder)
            assert said.isprintable()
            assert len(said) < 1300
        except Exception:
            print(f"{name}: {raw[:3000]!r}", file=sys.stderr)
            raise
        slowest = max(slowest, processor_seconds() - began)
    return slowest


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs_mpi if name == PRELOAD_RULES else ()) for name in READERS]
)
def test_damaged_content_is_read_or_refused_in_one_line(name: str, tmp_path: Path) -> None:
    take(name, 25, 0, tmp_path)


def main(count: int, seed: int, *names: str) -> None:
    """Take `count` for each reader, print the slowest, and the most memory that all took."""
    for name in names or READERS:
        with tempfile.TemporaryDirectory() as folder:
            print(f"{name}: {count}, slowest {take(name, count, seed, Path(folder)):.2f} s", flush=True)
    print(f"memory: {getrusage(RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
