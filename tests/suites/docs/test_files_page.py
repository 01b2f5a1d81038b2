"""The ways of reading a set that the page about files shows."""

import subprocess
from pathlib import Path

import pytest

from tests.suites.docs.pages import ROOT, blocks
from tests.support.servers.golang import need_go

PAGE = ROOT / "docs/concepts/files.md"
SETS = "/run/syncret/secrets/default/database"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "database"
    folder.mkdir()
    for name, value in {"user": "anna", "password": "s3cret"}.items():
        (folder / name).write_text(value)
    return folder


def block(title: str) -> str:
    [found] = [block.text for block in blocks(PAGE) if block.title == title]
    return found


def test_reading_a_set_in_a_shell(folder: Path) -> None:
    script = block("read_set.sh").replace(SETS, str(folder)) + 'printf "%s %s" "$user" "$password"'
    ended = subprocess.run(["sh", "-euc", script], capture_output=True, text=True, check=True)
    assert ended.stdout == "anna s3cret"


def test_reading_a_set_in_python(folder: Path) -> None:
    names: dict[str, object] = {}
    exec(compile(block("read_set.py"), "read_set.py", "exec"), names)  # noqa: S102  # our own documentation
    read_set = names["read_set"]
    assert callable(read_set)
    assert read_set(str(folder), "user", "password") == {"user": b"anna", "password": b"s3cret"}
    with pytest.raises(FileNotFoundError, match="does not have token"):
        read_set(str(folder), "token")


@pytest.mark.slow
def test_reading_a_set_in_go(folder: Path) -> None:
    need_go()
    module = folder.parent / "module"
    module.mkdir()
    (module / "go.mod").write_text("module secrets\n\ngo 1.25\n")
    (module / "readset.go").write_text(block("readset.go"))
    (module / "readset_test.go").write_text(
        f"""package secrets

import "testing"

func TestReadSet(t *testing.T) {{
	set, err := ReadSet("{folder}", "user", "password")
	if err != nil || string(set["user"]) != "anna" || string(set["password"]) != "s3cret" {{
		t.Fatal(set, err)
	}}
	if _, err = ReadSet("{folder}", "token"); err == nil {{
		t.Fatal("there is no token")
	}}
}}
"""
    )
    subprocess.run(["go", "vet", "."], cwd=module, check=True)
    subprocess.run(["go", "test", "."], cwd=module, check=True)
