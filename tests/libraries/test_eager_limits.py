from tests.installed import every_open_mpi
from timpani.libraries.find import eager_limits
from timpani.libraries.openmpi.settings import read_eager_limits
from timpani.native.mpi import Mpi

# Lines of Open MPI 4.1.4's `ompi_info --param btl all --level 9 --parsable`.
PRINTED = """\
mca:btl:self:param:btl_self_eager_limit:value:1024
mca:btl:vader:param:btl_vader_eager_limit:value:4096
mca:btl:vader:param:btl_vader_eager_limit:source:default
mca:btl:vader:param:btl_vader_get_limit:value:18446744073709551615
mca:btl:vader:param:btl_vader_max_send_size:value:32768
mca:btl:tcp:param:btl_tcp_eager_limit:value:65536
"""


def test_limits_are_read_from_what_ompi_info_prints() -> None:
    assert read_eager_limits(PRINTED) == {
        "btl_vader_eager_limit": 4096,
        "btl_vader_max_send_size": 32768,
        "btl_tcp_eager_limit": 65536,
    }


@every_open_mpi
def test_the_installed_library_reports_its_eager_limits(mpi: Mpi) -> None:
    limits = eager_limits("openmpi", mpi.version)
    assert any(name.endswith("eager_limit") for name in limits)
    assert all(limit > 0 for limit in limits.values())


def test_a_missing_library_has_no_eager_limits() -> None:
    assert eager_limits("openmpi", "1.0.0") == {}
    assert eager_limits("imported", "") == {}
