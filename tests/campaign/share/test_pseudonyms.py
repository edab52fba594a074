"""Names become pseudonyms, the same everywhere, and what only looks like a name stays."""

import pytest

from timpani.campaign.share.pseudonyms import Pseudonyms


@pytest.fixture
def names() -> Pseudonyms:
    return Pseudonyms.new(
        {"host": ["n1.cluster.example.org", "n2", "gpu-07", "192.0.2.7", "node"], "user": ["alice", "bo", "mpi"]},
        common=["mpi", "node", "bcast"],
    )


@pytest.mark.parametrize(
    ("text", "replaced"),
    [
        ("n1 and N1 and n1.cluster.example.org", "host1 and host1 and host1"),
        ("n11 n1x xn1 n-1", "n11 n1x xn1 n-1"),
        ("job_n2_out", "job_host2_out"),
        ("gpu-07,gpu-08", "host3,gpu-08"),
        ("tcp://192.0.2.7:80", "tcp://host4:80"),
        ("--nodelist=n[1-2]", "--nodelist=host[1-2]"),
        ("coll[1-2]", "coll[1-2]"),
        ("login.cluster.example.org", "login.domain1"),
        ("/home/alice/alicework", "/home/user1/user1work"),
        ("bo boat rainbow", "user2 boat rainbow"),
        ("/home/mpi/bin/mpi on a node", "/home/user3/bin/mpi on a node"),
    ],
)
def test_names_in_texts_are_replaced(names: Pseudonyms, text: str, replaced: str) -> None:
    assert names.replaced(text) == replaced
    assert not list(names.find(replaced))
    assert any(names.find(text)) == (text != replaced) or "[" in text


def test_common_words_are_replaced_where_a_name_stands_alone(names: Pseudonyms) -> None:
    assert names.pseudonym("node") == "host5"
    assert names.in_host_file("node slots=2\nn2 slots=1\n") == "host5 slots=2\nhost2 slots=1\n"
    assert names.words == {"node", "mpi"}


def test_pseudonyms_differ_from_all_names() -> None:
    names = Pseudonyms.new({"host": ["host2", "host1"]}, common=[])
    assert names.replaced("host1 host2 host3") == "anonhost2 anonhost1 host3"


@pytest.mark.parametrize("names", [["us", "c", "s", "h"], ["host", "host1"], ["user", "hostess"], ["a1", "anonhost"]])
def test_short_names_and_names_like_pseudonyms_are_replaced(names: list[str]) -> None:
    found = Pseudonyms.new({"host": names, "user": names[::-1]}, common=[])
    pseudonyms = [found.pseudonym(name) for name in names]
    assert len(set(pseudonyms)) == len(names)
    assert not [list(found.find(each)) for each in pseudonyms if any(found.find(each))]


def test_hosts_of_one_short_name_in_two_domains_have_two_pseudonyms() -> None:
    names = Pseudonyms.new({"host": ["n1.a.org", "n1.b.org", "n1"]}, common=[])
    assert [names.pseudonym(name) for name in ("n1.a.org", "n1.b.org", "n1")] == ["host1", "host2", "host3"]
