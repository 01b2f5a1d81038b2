"""The rows of a table: what is said of an object in each state."""

import pytest

from syncret.config.meta import Document
from syncret.daemon.cli.table import row_of
from syncret.daemon.cli.terminal import print_columns

READY: Document = {"type": "Ready", "status": "True"}


def external(*conditions: Document) -> Document:
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ClusterExternalSecret",
        "metadata": {"name": "x"},
        "status": {"conditions": list(conditions)},
    }


@pytest.mark.parametrize(
    ("document", "failure", "told"),
    [
        pytest.param(external(), "", ("-", "waiting"), id="no-verdict"),
        pytest.param(external({**READY, "message": "synced"}), "", ("True", "synced"), id="message"),
        pytest.param(external({**READY, "reason": "Synced"}), "", ("True", "Synced"), id="reason"),
        pytest.param(external(READY), "", ("True", "ready"), id="ready-and-silent"),
        pytest.param(external({**READY, "status": "False"}), "", ("False", "waiting"), id="silent"),
        pytest.param(external(READY), "no such key", ("True", "no such key"), id="failure"),
    ],
)
def test_what_is_told(document: Document, failure: str, told: tuple[str, str]) -> None:
    row = row_of(document, failure=failure, due=None, output_dir="")
    assert (row.ready, row.status) == told


def test_what_steers_a_terminal_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    print_columns(("NAME", "STATUS"), [("a\x1b[31m", "one\ntwo \u202e ü")])
    assert capsys.readouterr().out.splitlines()[1] == "a\\x1b[31m  one\\ntwo \\u202e ü"
