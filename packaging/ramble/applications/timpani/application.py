"""Timpani for Ramble: measures collectives; each cell's median is a figure of merit."""

from ramble.appkit import *


class Timpani(ExecutableApplication):
    """Times the collectives of an MPI library and finds the fastest algorithm for each message size."""

    name = "timpani"

    tags("benchmark", "mpi", "collectives")

    software_spec("timpani", pkg_spec="timpani@0.1.0", package_manager="spack*")

    # Timpani starts the ranks itself, so Ramble does not.
    executable(
        "measure",
        "timpani run {operations} --algorithms {algorithms} --sizes {sizes} --ranks {n_ranks} --launches {launches}"
        " {additional_args} -o {experiment_run_dir}/campaign",
        use_mpi=False,
        output_capture=OUTPUT_CAPTURE.ALL,
    )
    executable("show", "timpani show {experiment_run_dir}/campaign --format csv", use_mpi=False)

    workload("collectives", executables=["measure", "show"])

    workload_variable(
        "operations",
        default="bcast allreduce",
        description="Operations, as `timpani list operations` names them",
        workloads=["collectives"],
    )
    workload_variable(
        "algorithms",
        default="default",
        description="Algorithms, as `timpani run --algorithms` takes them",
        workloads=["collectives"],
    )
    workload_variable(
        "sizes",
        default="8,64Ki,1Mi",
        description="Message sizes, as `timpani run --sizes` takes them",
        workloads=["collectives"],
    )
    workload_variable(
        "launches",
        default="10",
        description="Starts of the measuring program; six or more let `timpani compare` test a difference",
        workloads=["collectives"],
    )
    workload_variable(
        "additional_args",
        default="",
        description="Further options of `timpani run`",
        workloads=["collectives"],
    )

    # Columns of docs/reference.md: collective,provider,algorithm,parameters,ranks,placement,message_bytes,mode,machine,
    # median_us, …
    cell = (
        r"^(?P<collective>[a-z_]+),(?P<provider>[^,]+),(?P<algorithm>[^,]+),(?P<parameters>[^,\"]*|\"[^\"]*\"),"
        r"(?P<ranks>\d+),(?P<placement>[^,]+),(?P<message_bytes>\d+),(?P<mode>\w+),(?P<machine>[^,]+),"
        r"(?P<median_us>[\d.eE+-]+),"
    )

    figure_of_merit_context(
        "cell",
        regex=cell,
        output_format="{collective} {provider}/{algorithm} {message_bytes} B, {ranks} ranks, {placement}",
    )
    figure_of_merit("Median", fom_regex=cell, group_name="median_us", units="us", contexts=["cell"])

    success_criteria("shown", mode="string", match=r"^collective,provider,algorithm,")
