"""`import timpani` alone is quick: it loads nothing that Python programs may not need."""

import subprocess
import sys


def test_importing_the_package_loads_none_of_its_dependencies() -> None:
    code = "import sys, timpani; print([m for m in sys.modules if m in ('polars', 'numpy', 'altair', 'pydantic')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
