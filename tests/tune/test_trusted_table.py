"""A tuned folder that somebody sent sets nothing that can run programs before a person agrees."""

from pathlib import Path

import pytest

from timpani.errors import UserError
from timpani.study.selection import SelectionTable, WrittenSetting
from timpani.study.trust import trust
from timpani.tune.table_file import TABLE_FILE, read_table_to_use, table_text


def test_the_setting_of_a_sent_table_is_refused_until_a_person_agrees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    setting = WrittenSetting("theirs", "LD_PRELOAD=theirs.so", points=2, faster=2, gain=1.5)
    table = SelectionTable("openmpi", "4.1.4", rules=(), setting=setting)
    Path(TABLE_FILE).write_text(table_text(table, Path()))
    with pytest.raises(UserError, match=rf"variant 'theirs' sets LD_PRELOAD=theirs\.so.*--trust {TABLE_FILE}"):
        read_table_to_use(Path())
    trust(Path(TABLE_FILE))
    assert read_table_to_use(Path()).setting == setting
