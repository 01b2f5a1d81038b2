"""The rows of the table of sync and run: what is said of an object in each state, and in which order."""

import pytest

from syncret.config.meta import Document
from syncret.daemon.cli.table import ObjectRow, print_objects, row_of
from syncret.daemon.core.plan.actions import LastError

READY: Document = {"type": "Ready", "status": "True"}
NOT_READY: Document = {**READY, "status": "False"}
MISSING = LastError(0.0, "no such key", "correct the key")


def external(*conditions: Document, name: str = "x") -> Document:
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ClusterExternalSecret",
        "metadata": {"name": name},
        "status": {"conditions": list(conditions)},
    }


def row(document: Document, error: LastError | None = None, manifest: str | None = None) -> ObjectRow:
    return row_of(document, error=error, due=None, output_dir="", manifest=manifest)


@pytest.mark.parametrize(
    ("document", "error", "told"),
    [
        pytest.param(external(), None, ("-", "waiting"), id="no-verdict"),
        pytest.param(external({**READY, "message": "synced"}), None, ("yes", "synced"), id="message"),
        pytest.param(external({**READY, "reason": "Synced"}), None, ("yes", "Synced"), id="reason"),
        pytest.param(external(READY), None, ("yes", "ready"), id="ready-and-silent"),
        pytest.param(external(NOT_READY), None, ("NO", "waiting"), id="silent"),
        pytest.param(external(READY), MISSING, ("yes", "no such key"), id="failure"),
    ],
)
def test_what_is_told(document: Document, error: LastError | None, told: tuple[str, str]) -> None:
    made = row(document, error)
    assert (made.verdict.text, made.status) == told


def test_what_fails_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        row(external(READY, name="a")),
        row(external(name="b")),
        row(external(NOT_READY, name="c")),
        row(external(READY, name="d"), MISSING),
    ]
    print_objects(rows)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [line[1:3] for line in lines] == [["c", "NO"], ["d", "yes"], ["b", "-"], ["a", "yes"]]


def test_the_remedy_is_a_column_of_its_own_and_the_place_of_the_wide_table(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_objects([row(external(NOT_READY), MISSING, "a.yaml:3")])
    assert capsys.readouterr().out.endswith("-      no such key  correct the key\n")
    print_objects([row(external(NOT_READY), MISSING, "a.yaml:3")], wide=True)
    assert capsys.readouterr().out.endswith("-      no such key  correct the key  a.yaml:3\n")
