"""A tree of PICO's results becomes campaigns, with each archive a batch job, and nothing is left out in silence."""

import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.cli.typed import typed
from tests.imports.pico_tree import TIMES, Tree
from timpani.campaign.folder.load import load
from timpani.imports.pico_files import read_archives
from timpani.stats.sample import effective_size, launch_interval


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "results")


def test_a_tree_becomes_a_campaign_for_each_machine_and_library_and_archives_become_jobs(tree: Tree) -> None:
    files = ["512_default_ompi_int32.csv", "512_ring_over_int32.csv", "64_ring_over_int32.csv"]
    first, second = "2025_03_16___14_58_59", "2025_03_18___00_00_01"
    tree.test(first, files=files)
    tree.hosts(4, 2)
    (tree.root / "desk" / first / "slurm_77.out").write_text("")
    tree.test(second, files=files)
    tree.test("2025_03_19___00_00_00", library="customOMPI,5.0.7")
    tree.test(
        first, system="torus", nodes="2x2", tasks="1", library="FJMPI,4.0.1", files=["8_default-default_int32.csv"]
    )
    with tarfile.open(tree.root / "desk" / f"{second}.tar.gz", "w:gz") as archive:
        archive.add(tree.root / "desk" / second, second)
    output = tree.root.parent / "campaigns"
    done = typed("import", "pico", tree.root, "-o", output)
    assert done.returncode == 0, done.stderr
    assert sorted(each.name for each in output.iterdir()) == [
        "desk-customompi-5.0.7",
        "desk-openmpi-4.1.6",
        "torus-fujitsu-4.0.1",
    ]
    assert f"Left out: {tree.root}/desk/{second}.tar.gz is the folder next to it" in done.stderr
    campaign = load(output / "desk-openmpi-4.1.6")
    assert campaign.results["median_us"].to_list() == pytest.approx([2.0] * 6, rel=1e-2)  # of about 2000 ns
    assert sorted(campaign.results["launch"].unique()) == [1, 2]
    assert campaign.results.filter(algorithm="default")["provider"].to_list() == ["openmpi"] * 2
    assert [(each["job"], each["started"], each["nodes"]) for each in campaign.jobs] == [
        ("77", "2025-03-16T14:58:59", ["n0", "n1"]),
        (second, "2025-03-18T00:00:01", []),
    ]
    assert campaign.results.filter(launch=2)["job"].unique().to_list() == [second]
    assert [rank["host"] for rank in campaign.launches[0]["ranks"]] == ["n0", "n0", "n1", "n1"]
    for command in ("check", "show", "verdict", "report"):
        done = typed(command, campaign.folder, *(["-o", str(tree.root / "r.html")] if command == "report" else []))
        assert done.returncode == 0, done.stderr


def test_an_archive_is_read_as_its_folder_is(tree: Tree) -> None:
    folder = tree.test().parent
    as_folder = tree.only()
    archive = folder.with_name(f"{folder.name}.tar.gz")
    with tarfile.open(archive, "w:gz") as written:
        written.add(folder, folder.name)
    [[result]] = read_archives([archive]).jobs
    assert (result.times, result.test, result.job) == (as_folder.times, as_folder.test, as_folder.job)


def test_the_switches_of_a_job_are_what_its_list_of_ranks_shows(tree: Tree) -> None:
    tree.test()
    ranks = ["0,nid1,x1301c6s6b0n0", "1,nid2,x1302c0s3b0n0", "2,as01r3b02", "3,lrdn0089.leonardo.local"]
    (tree.root / "desk" / "2025_03_16___14_58_59" / "alloc.csv").write_text(
        "\n".join(["MPI_Rank,allocation", *ranks, ""])
    )
    assert tree.only().job.switches == ("as01", "x1301", "x1302")


def test_the_first_fifth_is_warm_up_unless_the_program_left_it_out(tree: Tree) -> None:
    tree.test()
    tree.test(test=1, times=TIMES[2:], end="Average runtime: 0.000002\n")
    with_warm_up, without = tree.results
    assert with_warm_up.times.calls == without.times.calls == 8


def test_files_of_one_machine_are_one_campaign_in_the_folder_that_is_named(tree: Tree, tmp_path: Path) -> None:
    folder = tree.test(files=["2_ring_over_int32.csv", "4_ring_over_int32.csv"])
    done = typed("import", *folder.iterdir(), "-o", tmp_path / "c", "--machine", "mine")
    assert (done.returncode, done.stderr) == (0, "")
    assert load(tmp_path / "c").results["message_bytes"].to_list() == [8, 16]
    assert load(tmp_path / "c").results["machine"].unique().to_list() == ["mine"]


def test_the_list_of_ranks_decides_where_the_metadata_contradicts_it(tree: Tree) -> None:
    tree.test(collective="ALLGATHER", nodes="4", tasks="1", files=["1024_ring_ompi_int32.csv"])
    tree.hosts(16, 4)
    result = tree.only()
    assert (result.test.ranks, result.test.placement, result.message_bytes) == (16, "ppr:4", 256)
    [note] = read_archives([tree.root]).notes
    assert "alloc.csv lists 16 ranks, the metadata has 4" in note


def test_each_test_of_a_job_has_its_own_list_of_ranks(tree: Tree) -> None:
    for number, tasks in enumerate(("1", "2", "4")):
        tree.test(test=number, tasks=tasks)
    for ranks in (2, 4, 8):
        tree.hosts(ranks, ranks // 2, f"alloc_{ranks}.csv")
    assert [(each.test.ranks, each.test.placement) for each in tree.results] == [
        (2, "ppr:1"),
        (4, "ppr:2"),
        (8, "ppr:4"),
    ]
    assert read_archives([tree.root]).notes == []


@pytest.mark.parametrize(
    ("file", "label", "provider"),
    [
        ("512_default_mpich_int32.csv", "default", "cray"),
        ("512_default-default_int32.csv", "default", "cray"),
        ("512_default-ring_int32.csv", "default-ring", "cray"),
        ("512_ring_mpich_int32.csv", "ring_mpich", "cray"),
        ("512_BINE-L-UTOFU-0-6_int32.csv", "BINE-L-UTOFU-0-6", "pico"),
        ("512_bine_2_blocks_over_int32.csv", "bine_2_blocks_over", "pico"),
        ("512_ring_over_16384_int32.csv", "ring_over:segment_bytes=16384", "pico"),
        ("512_allreduce_nccl_ring.csv", "allreduce_nccl_ring", "nccl"),
    ],
)
def test_algorithms_have_their_provider_and_the_library_its_default(
    tree: Tree, file: str, label: str, provider: str
) -> None:
    tree.test(files=[file], library="CRAY_MPICH,8.1.29")
    result = tree.only()
    assert (result.algorithm.plain, result.algorithm.provider, result.message_bytes) == (label, provider, 2048)


@pytest.mark.parametrize(
    ("collective", "size"),
    [("ALLREDUCE", 4000), ("ALLGATHER", 332), ("REDUCE_SCATTER", 3984), ("ALLTOALL", 332), ("BCAST", 4000)],
)
def test_counts_that_ranks_do_not_divide_are_rounded_down_as_pico_does(tree: Tree, collective: str, size: int) -> None:
    tree.test(collective=collective, nodes="3", tasks="4", files=["1000_ring_over_int32.csv"])
    assert tree.only().message_bytes == size


def test_notes_and_buffers_are_conditions_so_that_settings_are_never_launches_of_one_cell(tree: Tree) -> None:
    tree.test(gpu="yes", note='" rail 4"')
    tree.test(test=1)
    assert [each.test.mode for each in tree.results] == [
        "warm, longest time of a rank, started by MPI_Barrier, buffers on a GPU, rail 4",
        "warm, longest time of a rank, started by MPI_Barrier",
    ]


def lose_metadata(file: Path) -> None:
    file.parents[3].joinpath("desk_metadata.csv").unlink()


def typed_metadata(old: str, new: str) -> Callable[[Path], None]:
    def change(file: Path) -> None:
        metadata = file.parents[3] / "desk_metadata.csv"
        metadata.write_bytes(metadata.read_bytes().replace(old.encode(), new.encode()))

    return change


def written(text: str) -> Callable[[Path], None]:
    return lambda file: (file.write_text(text), None)[1]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lose_metadata, "which names its collectives"),
        (typed_metadata("59,0,", "59,7,"), "has no row in the metadata"),
        (typed_metadata(",2,2,", ",two,2,"), "has an incomplete row in the metadata"),
        (typed_metadata(",2,2,", ",0,2,"), "has an incomplete row in the metadata"),
        (typed_metadata("OMPI", "OM\rPI"), "desk_metadata.csv, which can't be read"),
        (typed_metadata("ALLREDUCE", "WHATEVER"), "is of 'whatever', no collective"),
        (lambda file: (file.rename(file.with_name("times.csv")), None)[1], "is not named COUNT_ALGORITHM_TYPE.csv"),
        (written("highest\n"), "has no row under it"),
        (written(""), "is empty"),
        (written("highest\n2100\n12,13\n"), "is torn"),
        (written("highest\n2100\nnan\n"), "is torn"),
        (written("highest\n2000\n21"), "is cut off"),
        (written("highest\n" + "0\n" * 10), "has a time of 0 ns"),
        (written("highest,rank0\n1,1\n1\n"), "is torn at line 3"),
        (written("highest\n" + "".join(f"{time + 1}\n" for time in TIMES)), "a copy is not a second run"),
    ],
)
def test_a_part_that_is_not_understood_has_a_line_and_the_rest_is_imported(
    tree: Tree, tmp_path: Path, change: Callable[[Path], None], why: str
) -> None:
    sound = tree.test(system="other")
    (sound / "512_ring_over_int32.csv").write_text("highest\n" + "".join(f"{time + 1}\n" for time in TIMES))
    change(tree.test() / "512_ring_over_int32.csv")
    done = typed("import", "pico", tree.root / "other", tree.root / "desk", "-o", tmp_path / "c")
    assert done.returncode == 0, done.stderr
    assert [each.name for each in (tmp_path / "c").iterdir()] == ["other-openmpi-4.1.6"]
    assert done.stderr.count("\n") == 1
    assert why in done.stderr


def test_only_what_is_torn_is_an_error(tree: Tree, tmp_path: Path) -> None:
    folder = tree.test(times=())
    done = typed("import", "pico", folder, "-o", tmp_path / "c")
    assert (done.returncode, done.stderr.count("\n"), (tmp_path / "c").exists()) == (2, 1, False)


def test_costs_and_fits_of_imports_read_mpis_datatypes(tree: Tree, tmp_path: Path) -> None:
    log = tmp_path / "osu.log"
    log.write_text(
        "# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n4 1.0\n8 2.0\n"
    )
    typed("import", log, "--ranks", "4", "--algorithm", "timpani/ring", "--any-name", "-o", tmp_path / "c")
    campaign = load(tmp_path / "c")
    assert campaign.header.study.element_bytes_of("allreduce") == 4
    assert not campaign.header.study.at_deadline


@pytest.mark.parametrize("share", [0.0, 0.8])
def test_an_interval_of_a_launch_holds_another_launch_whatever_the_serial_dependence(share: float) -> None:
    """Launches of 2,000 calls whose logarithms follow an autoregression; nominal 95 %."""
    random = np.random.default_rng(1)
    noise = random.normal(0, 0.05, (400, 2200))
    for call in range(1, noise.shape[1]):
        noise[:, call] += share * noise[:, call - 1]
    launches = np.exp(noise[:, 200:]) * np.exp(random.normal(0, 0.002, (400, 1)))
    intervals = [launch_interval(launch) for launch in launches]
    held = [one.low <= other.median <= one.high for one, other in zip(intervals[::2], intervals[1::2], strict=True)]
    assert np.mean(held) > 0.9
    sizes = np.array([each.effective_size for each in intervals])
    assert (np.median(sizes) < 500) == (share > 0)


def test_an_effective_size_is_that_of_independent_calls_or_of_one() -> None:
    assert effective_size(np.full(100, 7)) == 100
    assert effective_size(np.arange(1024)) < 16
