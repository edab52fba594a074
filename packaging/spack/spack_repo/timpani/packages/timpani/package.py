"""Timpani for Spack 1.0 or newer."""

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class Timpani(PythonPackage):
    """Times the collectives of an MPI library and finds the fastest algorithm for each message size."""

    homepage = ""  # tools/release writes it, from pyproject.toml
    pypi = "timpani/timpani-0.1.0.tar.gz"

    license("BSD-3-Clause")

    # Not on PyPI yet: tools/release writes the checksum of the sdist.
    version("0.1.0")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-hatchling@1.27:", type="build")
    depends_on("py-typer@0.20:", type=("build", "run"))
    depends_on("py-rich@13.9:", type=("build", "run"))
    depends_on("py-pydantic@2.10:", type=("build", "run"))
    depends_on("py-numpy@2.0.2:", type=("build", "run"))
    depends_on("py-scipy@1.14:", type=("build", "run"))
    depends_on("py-polars@1.29:", type=("build", "run"))
    depends_on("py-altair@5.5:", type=("build", "run"))
    depends_on("py-vl-convert-python@1.7:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-clustershell@1.9.3:", type=("build", "run"))

    # The measuring program is compiled where it first runs, with the MPI library found there.
    depends_on("cmake@3.26:", type="run")
    depends_on("ninja@1.11.1:", type="run")
    depends_on("c", type="run")
    depends_on("cxx", type="run")
    depends_on("mpi", type="run")
