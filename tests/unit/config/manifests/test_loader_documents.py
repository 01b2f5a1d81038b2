"""One text to documents: lists, lines, and what is no document at all."""

import pytest

from syncret.config.manifests.loader import load_bytes
from syncret.config.schema.admission import admit
from tests.unit.config.support import CATALOG

LIST = "apiVersion: v1\nkind: List\n"


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


@pytest.mark.parametrize(
    ("items", "begins", "name"),
    [
        pytest.param(
            "- # one\n  metadata:\n    name: a\n- &b\n  metadata: {x: 1,\n    name: b}\n", 7, 9, id="block"
        ),
        pytest.param(
            "    - {metadata: {y: 1}}\n    - metadata:\n        z: ä\n\n        name: b\n",
            5,
            8,
            id="indented",
        ),
        pytest.param("  [ 'ü', \n{ 'metadata':\n {'x': 1,\n'name': b}}, 3]\n", 5, 7, id="flow"),
        pytest.param("- {metadata: &m {name: b}}\n- metadata: *m\n", 5, 5, id="an alias"),
    ],
)
def test_lines_within_the_items_of_a_list(items: str, begins: int, name: int) -> None:
    """Each item is a part of the text that is looked into alone."""
    text = f"---\nkind: List\nitems:\n{items}"
    _, second, *_ = load_bytes("f.yaml", text.encode())
    assert (second.line, second.line_of("metadata.name")) == (begins, name)


def test_a_long_list_takes_time_in_proportion() -> None:
    item = "- {kind: Secret, metadata: {name: %d, name: %d}, data: {'tls.crt': 1, 'tls.crt': 2}}\n"
    text = "kind: List\nitems:\n" + "".join(item % (number, number) for number in range(1500))
    loaded = list(load_bytes("f.yaml", text.encode()))
    assert [each.line for each in loaded] == list(range(3, 1503))
    assert [(each.path, each.line) for each in loaded[-1].problems] == [
        ("metadata.name", 1502),
        ('data["tls.crt"]', 1502),
    ]


def test_an_empty_list_holds_nothing() -> None:
    assert not list(load_bytes("f.yaml", b"apiVersion: v1\nkind: List\nitems: []\n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(LIST, [("items: is required (start each entry with '- ')", 1)], id="none"),
        pytest.param(LIST + "items:\n", [], id="null"),
        pytest.param(
            LIST + "items:\n  a: 1\n",
            [("items: must be an array (start each entry with '- ')", 3)],
            id="mapping",
        ),
        pytest.param(
            LIST.replace("List", "SecretList") + "items: x\n",
            [("items: must be an array (start each entry with '- ')", 3)],
            id="list of a kind",
        ),
        pytest.param(
            LIST + "items:\n- {kind: A}\n- a\n- null\n",
            [
                ("items[1]: must be an object with apiVersion and kind", 5),
                ("items[2]: must be an object with apiVersion and kind", 6),
            ],
            id="no objects",
        ),
        pytest.param(
            LIST + "items:\n- {kind: A}\n- kind: List\n  items: []\n- {kind: AList, items: []}\n",
            [
                ("items[1]: is a list itself (write its items in place of it)", 5),
                ("items[2]: is a list itself (write its items in place of it)", 7),
            ],
            id="nested",
        ),
    ],
)
def test_an_invalid_list_is_reported_with_its_place(text: str, expected: list[tuple[str, int]]) -> None:
    loaded = list(load_bytes("f.yaml", text.encode()))
    problems = [problem for each in loaded for problem in each.located(each.problems)]
    assert [(str(problem), problem.line) for problem in problems] == expected
    assert all(each.document == {"kind": "A"} for each in loaded if not each.problems)


def test_a_kind_may_be_called_so_without_being_a_list() -> None:
    (one,) = load_bytes("f.yaml", b"apiVersion: example.com/v1\nkind: AllowList\n")
    assert one.document == {"apiVersion": "example.com/v1", "kind": "AllowList"}
    assert not one.problems


def test_what_is_no_object_is_a_problem() -> None:
    (one,) = load_bytes("f.yaml", b"\n- a\n")
    assert one.document is None
    assert [(each.message, each.line) for each in one.problems] == [
        ("must be an object with apiVersion and kind", 2)
    ]


def test_problems_get_their_lines() -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n  good: x\n  bad: 5\n"
    (one,) = load_bytes("f.yaml", text.encode())
    located = one.located(admit(one.document, CATALOG).problems)
    assert [(problem.path, problem.line) for problem in located] == [("stringData.bad", 6)]
