"""ClusterShell for Spack, which has no recipe for it; Timpani reads and folds node sets with it."""

from spack.package import *
from spack_repo.builtin.build_systems.python import PythonPackage


class PyClustershell(PythonPackage):
    """Node sets and parallel commands on clusters."""

    homepage = "https://clustershell.readthedocs.io/"
    pypi = "clustershell/clustershell-1.10.1.tar.gz"

    license("LGPL-2.1-or-later")

    version("1.10.1", sha256="b27af0baa9d1b10ac6a2729700b03e5a2796c838cbb6aaf1902698226ab9ea8a")

    depends_on("py-setuptools", type="build")
    depends_on("py-pyyaml", type=("build", "run"))
