"""An invalid manifest is an object of every count: status, explain, readiness, metrics."""

import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from syncret.config.errors import Problem, Severity
from syncret.config.meta import ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.homes.contract import HomeProblem, RefusalReason
from syncret.daemon.one_pass import one_pass
from syncret.daemon.ops.control import control_service, explanation
from syncret.daemon.ops.failures import count_failing, invalid_manifests
from syncret.daemon.ops.http import http_service
from syncret.daemon.ops.view import View
from syncret.providers.registry import Registry
from tests.unit.daemon.ops.objects import Apply, external_secret, serving, store

GROUP = "external-secrets.io"
INVALID = ObjectRef(GROUP, "ExternalSecret", "default", "inv")
TYPO = Problem(path="spec.refreshInterval", message='"1hour" is no duration', hint="write 1h", line=6)
HEAD = "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: inv}\n"
BODY = "spec: {secretStoreRef: {name: s}, data: [{secretKey: a, remoteRef: {key: k}}]}\n"


def of_inv(problem: Problem = TYPO, line: int = 1) -> HomeProblem:
    return HomeProblem("app.yaml", problem, INVALID, RefusalReason.INVALID, line)


async def status_of(view: View) -> dict[str, Any]:
    async with serving(control_service, view):
        connector = aiohttp.UnixConnector(view.settings.socket)
        async with aiohttp.ClientSession(connector=connector) as client, client.get("http://x/status") as got:
            document: dict[str, Any] = await got.json()
            return document


@pytest.mark.parametrize(
    ("text", "reason", "line", "name"),
    [
        pytest.param("a: [\n", RefusalReason.SYNTAX, 2, None, id="no YAML"),
        pytest.param(HEAD + BODY + BODY, RefusalReason.SYNTAX, 1, "inv", id="a key twice"),
        pytest.param(HEAD.replace("Secret\n", "Secrt\n") + BODY, RefusalReason.KIND, 1, None, id="kind"),
        pytest.param(HEAD.replace("name", "nam") + BODY, RefusalReason.INVALID, 1, None, id="no name"),
        pytest.param(
            HEAD + BODY.replace("{sec", "{refreshInterval: 1hour, sec"),
            RefusalReason.INVALID,
            1,
            "inv",
            id="rule",
        ),
        pytest.param(HEAD + BODY + "---\n" + HEAD + BODY, RefusalReason.DUPLICATE, 6, "inv", id="twice"),
    ],
)
async def test_reasons(tmp_path: Path, text: str, reason: RefusalReason, line: int, name: str | None) -> None:
    (tmp_path / "app.yaml").write_text(text)
    result = await one_pass(Settings(manifests=(str(tmp_path),)), Registry())
    (found,) = invalid_manifests(result.problems)
    assert (found.reason, found.document) == (reason, line)
    assert (None if found.ref is None else found.ref.name) == name
    assert found.file == str(tmp_path / "app.yaml")


async def test_a_file_that_cannot_be_read_is_one(tmp_path: Path) -> None:
    result = await one_pass(Settings(manifests=(str(tmp_path / "missing.yaml"),)), Registry())
    assert [each.reason for each in invalid_manifests(result.problems)] == [RefusalReason.UNREADABLE]


def test_one_document_counts_once_and_a_warning_not_at_all() -> None:
    second = Problem(path="spec.data", message="is wrong, too", line=9)
    odd = HomeProblem("app.yaml", Problem(path="", message="odd", severity=Severity.WARNING), INVALID)
    found = invalid_manifests([odd, of_inv(), of_inv(second), of_inv(line=20)])
    assert [(each.document, str(each)) for each in found] == [
        (1, 'app.yaml:6: spec.refreshInterval: "1hour" is no duration (write 1h)'),
        (20, 'app.yaml:6: spec.refreshInterval: "1hour" is no duration (write 1h)'),
    ]


async def test_an_object_whose_manifest_was_never_valid(view: View, apply: Apply) -> None:
    await apply(store(database="v"), external_secret())
    view.problems = [of_inv()]
    document = await status_of(view)
    assert document["failing"] == 1
    row = next(each for each in document["objects"] if each["name"] == "inv")
    assert (row["ready"], row["reason"], row["manifest"]) == (False, "InvalidManifest", "app.yaml:6")
    assert row["message"] == 'spec.refreshInterval: "1hour" is no duration (write 1h)'
    assert row["manifestProblem"]["hint"] == "write 1h"


async def test_an_object_whose_last_valid_version_is_in_force(view: View, apply: Apply) -> None:
    await apply(store(database="v"), external_secret("inv"))
    view.problems = [of_inv()]
    document = await status_of(view)
    assert document["failing"] == 1
    (row,) = document["objects"]
    assert (row["ready"], row["reason"]) == (True, "SecretSynced")
    assert row["manifestProblem"]["message"] == '"1hour" is no duration'
    (note,) = explanation(view, "es", "default", "inv").notes
    assert note == (
        "its manifest is invalid, the last valid version is in force: "
        'app.yaml:6: spec.refreshInterval: "1hour" is no duration (write 1h)'
    )


async def test_each_failure_counts_once(view: View, apply: Apply) -> None:
    """An object that fails and has an invalid manifest is one; so is a document that names no object."""
    await apply(store(database="v"), external_secret("inv", key="nowhere"), external_secret())
    assert count_failing(view) == 1
    nameless = HomeProblem("b.yaml", TYPO, None, RefusalReason.SYNTAX, 1)
    view.problems = [of_inv(), nameless]
    assert count_failing(view) == 2


async def test_explain_knows_it(view: View, apply: Apply) -> None:
    await apply()
    view.problems = [of_inv()]
    found = explanation(view, "es", "default", "inv")
    assert (found.ready, found.reason) == ("False", "InvalidManifest")
    assert found.message == 'app.yaml:6: spec.refreshInterval: "1hour" is no duration (write 1h)'
    assert found.next.why == "when its manifest is corrected"


async def test_a_refresh_says_why_there_is_none(view: View, apply: Apply) -> None:
    await apply()
    view.problems = [of_inv()]
    async with serving(control_service, view):
        connector = aiohttp.UnixConnector(view.settings.socket)
        path = "http://x/refresh?kind=es&namespace=default&name=inv"
        async with aiohttp.ClientSession(connector=connector) as client, client.post(path) as got:
            answer = json.loads(await got.text())
    assert got.status == 404
    assert answer["message"] == "there is no ExternalSecret/default/inv: its manifest is invalid"
    assert answer["hint"].startswith("app.yaml:6: spec.refreshInterval")


async def test_readiness_stays_and_says_where(view: View, apply: Apply) -> None:
    await apply()
    view.problems = [of_inv(line=line) for line in range(1, 6)]
    async with (
        serving(http_service, view),
        aiohttp.ClientSession() as client,
        client.get(f"http://{view.address}/readyz") as got,
    ):
        assert (got.status, await got.text()) == (
            200,
            "ok\n5 manifests are invalid: app.yaml:6, app.yaml:6, app.yaml:6, ...\n",
        )
