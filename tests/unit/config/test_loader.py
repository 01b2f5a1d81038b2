import os
from pathlib import Path

import pytest

from syncret.config.decode import judge
from syncret.config.loader import LoadedDocument, load, load_bytes
from syncret.config.yaml import Limits
from tests.unit.config.support import CATALOG


def manifest(name: str, kind: str = "Secret", extra: str = "") -> str:
    return f"apiVersion: v1\nkind: {kind}\nmetadata: {{name: {name}}}\n{extra}"


def names(loaded: list[LoadedDocument], root: Path) -> list[tuple[str, str]]:
    return [
        (os.path.relpath(each.file, root), (each.document or {}).get("metadata", {}).get("name", "-"))
        for each in loaded
    ]


def messages(loaded: list[LoadedDocument]) -> list[str]:
    return [problem.message for each in loaded for problem in each.problems]


def test_a_folder_is_read_through_in_the_order_of_names(tmp_path: Path) -> None:
    for place in ("b.yaml", "a.yml", "c/d.json", "c/e.txt", ".hidden.yaml", ".git/f.yaml"):
        file = tmp_path / place
        file.parent.mkdir(exist_ok=True)
        name = file.stem.strip(".")
        file.write_text(f'{{"apiVersion": "v1", "kind": "Secret", "metadata": {{"name": "{name}"}}}}')
    assert names(load([tmp_path]), tmp_path) == [("a.yml", "a"), ("b.yaml", "b"), ("c/d.json", "d")]


def test_a_mounted_config_map_is_read_once(tmp_path: Path) -> None:
    version = tmp_path / "..2026_01_01"
    version.mkdir()
    (version / "a.yaml").write_text(manifest("a"))
    (tmp_path / "..data").symlink_to(version.name)
    (tmp_path / "a.yaml").symlink_to("..data/a.yaml")
    (tmp_path / "again.yaml").symlink_to("a.yaml")
    (tmp_path / "loop").symlink_to(".")
    assert names(load([tmp_path, tmp_path / "a.yaml"]), tmp_path) == [("a.yaml", "a")]


def test_what_is_no_file_is_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.yaml").mkdir()
    assert load([tmp_path]) == []


def test_a_file_that_is_named_needs_no_suffix(tmp_path: Path) -> None:
    file = tmp_path / ".manifest"
    file.write_text(manifest("a"))
    assert names(load([str(file)]), tmp_path) == [(".manifest", "a")]


def test_what_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "dangling.yaml").symlink_to("nowhere")
    loaded = load([tmp_path, tmp_path / "missing", "a\0b"])
    assert [each.document for each in loaded] == [None, None, None]
    assert messages(loaded) == [
        "there is no such file or folder",
        "there is no such file or folder",
        "cannot be read: the name has a NUL",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_what_may_not_be_read_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").touch(mode=0o000)
    assert messages(load([tmp_path])) == ["cannot be read: Permission denied"]


def test_a_large_file_is_refused_without_reading_it_all(tmp_path: Path) -> None:
    file = tmp_path / "large.yaml"
    with file.open("wb") as stream:
        stream.truncate(1 << 40)
    assert messages(load([file], Limits(file=1000))) == ["is larger than 1000 bytes"]


def test_lists_are_flattened_and_lines_stay_right() -> None:
    text = (
        "apiVersion: v1\nkind: List\nitems:\n"
        "- apiVersion: v1\n  kind: Secret\n  metadata: {name: a}\n  data: {a: 1, a: 2}\n"
        "- 3\n---\n"
        "apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {name: b}\n"
    )
    first, second, third = load_bytes("f.yaml", text.encode())
    assert first.document == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "a"},
        "data": {"a": 2},
    }
    assert [(each.path, each.line) for each in first.problems] == [("data.a", 7)]
    assert (first.line, first.line_of("data"), first.line_of("metadata.name")) == (4, 7, 6)
    assert (second.document, second.line) == (None, 8)
    assert third.document == {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "b"}}


def test_a_long_list_takes_time_in_proportion() -> None:
    item = "- {kind: Secret, metadata: {name: %d, name: %d}, data: {'tls.crt': 1, 'tls.crt': 2}}\n"
    text = "kind: List\nitems:\n" + "".join(item % (number, number) for number in range(1500))
    loaded = load_bytes("f.yaml", text.encode())
    assert [each.line for each in loaded] == list(range(3, 1503))
    assert [(each.path, each.line) for each in loaded[-1].problems] == [
        ("metadata.name", 1502),
        ('data["tls.crt"]', 1502),
    ]


def test_an_empty_list_holds_nothing() -> None:
    assert load_bytes("f.yaml", b"apiVersion: v1\nkind: List\nitems: []\n") == []


def test_what_is_no_object_is_a_problem() -> None:
    (one,) = load_bytes("f.yaml", b"\n- a\n")
    assert one.document is None
    assert [(each.message, each.line) for each in one.problems] == [
        ("must be an object with apiVersion and kind", 2)
    ]


def test_an_object_that_stands_twice_is_told_where_first(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("\n" + manifest("a"))
    (tmp_path / "b.yaml").write_text(
        manifest("a", kind="ConfigMap")
        + "---\n"
        + "apiVersion: v1\nkind: Secret\nmetadata:\n  namespace: default\n  name: a\n"
        + "---\n"
        + "apiVersion: v1\nkind: Secret\nmetadata:\n  namespace: other\n  name: a\n"
    )
    loaded = load([tmp_path])
    problems = [(each.line, problem.line, str(problem)) for each in loaded for problem in each.problems]
    expected = (
        f"metadata.name: Secret/default/a is already defined at {tmp_path}/a.yaml:2 "
        "(remove one of them, or give it another name)"
    )
    assert problems == [(5, 9, expected)]


def test_problems_get_their_lines() -> None:
    text = manifest("a", extra="stringData:\n  good: x\n  bad: 5\n")
    (one,) = load_bytes("f.yaml", text.encode())
    located = one.located(judge(one.document, CATALOG).problems)
    assert [(problem.path, problem.line) for problem in located] == [("stringData.bad", 6)]


def test_a_name_that_is_no_text_is_told_and_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.yaml")).write_text("kind: A\n")
    (tmp_path / "good.yaml").write_text("kind: B\n")
    good, bad = load([tmp_path])
    assert good.document == {"kind": "B"}
    assert (bad.file, bad.document) == (f"{tmp_path}/\\xff.yaml", None)
    assert [problem.message for problem in bad.problems] == ["the name of the file is not UTF-8 text"]
