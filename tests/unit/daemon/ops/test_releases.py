"""Releases as operators see them: of each sensitive field the variant, where it is from, age, constraints."""

import json
from typing import Any

import pytest

from syncret.config.manifests.loader import load_bytes
from syncret.daemon.cli.commands import status as command
from syncret.daemon.cli.daemon_client import Answer
from syncret.daemon.cli.parser.arguments import parser
from syncret.daemon.core.constraints.verdict import violated_keys, violation
from syncret.daemon.ops import control, status
from syncret.daemon.ops.view import View
from syncret.daemon.release.compiler import parse, rendered
from syncret.daemon.release.hosted import HostedRelease, hosted
from tests.unit.daemon.ops.objects import CANARY, Apply, store

WRITTEN = 1_700_000_000.0
RELEASE = f"""\
apiVersion: syncret.dev/v1alpha1
kind: Module
metadata: {{name: app}}
spec:
  config:
    user: {{$opm: secret, $secretName: db, $dataKey: user, $constraints: {{minRunes: 3}}}}
    password: {{$opm: secret, $secretName: db, $dataKey: password, $constraints: {{minRunes: 60}}}}
    token: {{$opm: secret, $secretName: token, $dataKey: token}}
    ca: {{$opm: secret, $secretName: ca, $dataKey: ca, $optional: true}}
    shared: {{$opm: secret, $secretName: shared, $dataKey: k}}
  container: {{image: x}}
---
apiVersion: syncret.dev/v1alpha1
kind: Release
metadata: {{name: prod}}
spec:
  values:
    user: {{source: k8s-eso, path: db, remoteKey: user}}
    password: {{source: k8s-eso, path: db, remoteKey: password}}
    token:
      value: {CANARY}
    shared: {{path: there, remoteKey: key}}
---
apiVersion: syncret.dev/v1alpha1
kind: Platform
spec: {{constraints: warn, secretStoreRef: {{name: demo, kind: SecretStore}}}}
"""


def release() -> HostedRelease:
    parsed = parse(list(load_bytes("all.yaml", RELEASE.encode())))
    return hosted(parsed, rendered(parsed), "all.yaml", 13)


async def document(view: View) -> dict[str, Any]:
    text = b"".join([piece async for piece in status.pieces(view)])
    assert CANARY.encode() not in text
    found: dict[str, Any] = json.loads(text)
    return found


async def test_a_host_without_releases_has_none(view: View) -> None:
    assert (await document(view))["releases"] == []


async def test_each_field(view: View, apply: Apply) -> None:
    made = release()
    view.releases = lambda: [made, made]
    before, _ = (await document(view))["releases"]
    assert [each["constraints"] for each in before["secrets"][:2]] == ["deferred", "deferred"]
    parsed = parse(list(load_bytes("all.yaml", RELEASE.encode())))
    objects = [item for item in rendered(parsed).items if item["kind"] == "ExternalSecret"]
    objects[0]["metadata"]["namespace"] = "default"
    await apply(store(db=json.dumps({"user": "app", "password": CANARY})), *objects)
    found, _ = (await document(view))["releases"]
    assert (found["name"], found["namespace"], found["manifest"]) == ("prod", "default", "all.yaml:13")
    fields = {each.pop("path").removeprefix("spec.config."): each for each in found["secrets"]}
    good = fields["user"].pop("lastGood")
    assert good is not None
    assert fields.pop("user") == {
        "variant": "k8s-eso",
        "from": {"store": "SecretStore/demo", "path": "db", "remoteKey": "user"},
        "ref": {"name": "db", "key": "user"},
        "ready": True,
        "constraints": "satisfied",
    }
    password = fields.pop("password")
    assert (password["constraints"], password["lastGood"]) == ("violated", good)
    token = fields.pop("token")
    assert (token["from"], token["ready"]) == ({"manifest": "all.yaml:20"}, True)
    assert fields.pop("ca") == {
        "variant": "absent",
        "from": None,
        "ref": None,
        "ready": None,
        "lastGood": None,
        "constraints": "none",
    }
    shared = fields.pop("shared")
    assert (shared["from"], shared["ref"]) == (
        {"path": "there", "remoteKey": "key"},
        {"name": "there", "key": "key"},
    )
    assert fields == {}
    notes = control.explanation(view, "es", "default", "db").notes
    assert any(note.endswith(": violated: password: minRunes") for note in notes)
    assert "key password is spec.config.password of release prod, constraints violated" in notes


async def test_many_fields_come_in_pieces(view: View) -> None:
    made = release()
    many = HostedRelease(
        made.name, made.namespace, made.file, made.line, made.store, list(made.fields) * 100, WRITTEN
    )
    view.releases = lambda: [many]
    (found,) = (await document(view))["releases"]
    assert len(found["secrets"]) == 500
    assert found["secrets"][2]["lastGood"] == "2023-11-14T22:13:20Z"


def test_the_keys_that_a_message_names() -> None:
    assert violated_keys(violation({"a": "minRunes", "tls.crt": "format"})) == {"a", "tls.crt"}
    assert violated_keys("the annotation cannot be used: a: b") == frozenset()


@pytest.mark.parametrize(
    ("flags", "shown"),
    [
        pytest.param([], ["user", "password"], id="all"),
        pytest.param(["--failing"], ["password"], id="failing"),
        pytest.param(["Release/prod"], ["user", "password"], id="named"),
        pytest.param(["-n", "other"], [], id="another namespace"),
    ],
)
def test_the_table(
    flags: list[str],
    shown: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    fields = [
        {
            "path": f"spec.config.{name}",
            "variant": "k8s-eso",
            "from": {"store": "SecretStore/demo", "path": "db", "remoteKey": name},
            "ref": {"name": "db", "key": name},
            "ready": True,
            "lastGood": "2026-11-18T12:58:02Z",
            "constraints": verdict,
        }
        for name, verdict in (("user", "satisfied"), ("password", "violated"))
    ]
    releases = [{"name": "prod", "namespace": "default", "manifest": "all.yaml:13", "secrets": fields}]
    queue = {"ready": 0, "running": 0, "scheduled": 0}
    answer: Answer = {
        "version": "1",
        "uptimeSeconds": 1,
        "ready": True,
        "failing": 0,
        "queue": queue,
        "problems": [],
        "stores": [],
        "objects": [],
        "releases": releases,
    }

    def request(*_: object) -> Answer:
        return answer

    monkeypatch.setattr(command, "request", request)
    options = parser().parse_args(["status", *flags])
    assert command.run(options) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if "spec.config" in line]
    assert [line[1].removeprefix("spec.config.") for line in lines] == shown
    for line in lines:
        assert line[0] == "default/prod"
        assert line[-3:] == ["SecretStore/demo", "db", line[1].removeprefix("spec.config.")]
