"""Several passes of `sync` on one state are one life; `plan` tells what a pass would do, and does nothing."""

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.real.e2e.manifests import external, replaced, store, written
from tests.real.e2e.process import SYNCRET, TIMEOUT, daemon, environment, faces, files, syncret

pytestmark = pytest.mark.slow

SECRETS = ("v1-hush", "v2-hush")


class Host:
    """One folder of manifests, one output folder, one state."""

    def __init__(self, folder: Path) -> None:
        self.manifests = folder / "manifests"
        self.out = folder / "out"
        self.state = folder / "state" / "state.db"

    @property
    def places(self) -> list[str]:
        return ["-f", str(self.manifests), "--output-dir", str(self.out), "--state", str(self.state)]

    def sync(self, *arguments: str, code: int = 0) -> list[dict[str, Any]]:
        """One pass; its list."""
        done = syncret("sync", *self.places, "-o", "json", *arguments)
        assert done.returncode == code, done.stderr
        told = json.loads(done.stdout)
        assert (told["apiVersion"], told["kind"]) == ("v1", "List")
        items: list[dict[str, Any]] = told["items"]
        return items

    def plan(self, code: int = 0) -> dict[str, Any]:
        """What would be done; nothing may be."""
        before = digest(self.out.parent)
        done = syncret("plan", *self.places, "-o", "json")
        assert done.returncode == code, done.stderr
        assert digest(self.out.parent) == before, "a plan writes nothing"
        assert not any(value in done.stdout + done.stderr for value in SECRETS)
        document: dict[str, Any] = json.loads(done.stdout)
        return document


def digest(folder: Path) -> str:
    """Of everything that can be seen of a folder, contents, modes and times included."""
    seen = hashlib.sha256(repr(faces(folder)).encode())
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            seen.update(path.read_bytes())
    return seen.hexdigest()


@pytest.fixture
def host(tmp_path: Path) -> Host:
    host = Host(tmp_path)
    written(host.manifests, store=store(k="v1-hush", other="o1"), app=external("app", "k"))
    return host


def named(items: list[dict[str, Any]]) -> list[str]:
    return [f"{item['kind']}/{item['metadata']['name']}" for item in items]


def one(items: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(item for item in items if f"{item['kind']}/{item['metadata']['name']}" == name)


# ----------------------------------------------------------------------------------------------------- passes
def test_outputs_first_then_what_was_given_with_its_status(host: Host) -> None:
    items = host.sync()
    assert named(items) == ["Secret/app", "ExternalSecret/app", "SecretStore/fake"]
    assert items[0]["data"] == {"k": "<redacted>"}
    (ready,) = items[1]["status"]["conditions"]
    assert (ready["type"], ready["status"], ready["reason"]) == ("Ready", "True", "SecretSynced")
    assert one(host.sync("--show-values"), "Secret/app")["data"] == {"k": "djEtaHVzaA=="}


def test_what_is_not_due_is_not_fetched_and_yet_listed(host: Host) -> None:
    first, before = host.sync(), faces(host.out)
    replaced(host.manifests / "store.yaml", store(k="v2-hush", other="o1"))
    second = host.sync()
    assert one(second, "ExternalSecret/app")["status"] == one(first, "ExternalSecret/app")["status"]
    assert one(second, "Secret/app") == one(first, "Secret/app")
    assert faces(host.out) == before


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("1h", "2h"), id="spec"),
        pytest.param(("name: app}", "name: app, annotations: {force-sync: '1'}}"), id="annotation"),
        pytest.param(("name: app}", "name: app, labels: {a: b}}"), id="label"),
    ],
)
def test_what_changed_is_due_at_once(host: Host, change: tuple[str, str]) -> None:
    host.sync()
    replaced(host.manifests / "store.yaml", store(k="v2-hush", other="o1"))
    replaced(host.manifests / "app.yaml", external("app", "k").replace(*change))
    host.sync()
    assert files(host.out) == {"default/app/k": "v2-hush"}


def test_what_is_gone_was_deleted(host: Host) -> None:
    written(
        host.manifests,
        owned=external("owned", "k"),
        orphan=external("orphan", "k", target="{creationPolicy: Orphan}"),
        deleted=external("deleted", "k", target="{creationPolicy: Owner, deletionPolicy: Delete}"),
    )
    host.sync()
    for name in ("owned", "orphan", "deleted"):
        (host.manifests / f"{name}.yaml").unlink()
    items = host.sync()
    assert files(host.out) == {"default/app/k": "v1-hush", "default/orphan/k": "v1-hush"}
    assert named(items) == ["Secret/app", "Secret/orphan", "ExternalSecret/app", "SecretStore/fake"]
    assert named(host.sync()) == named(items), "what was retained stays in the list"


def test_a_push_is_deleted_with_its_manifest(host: Host) -> None:
    push = """apiVersion: external-secrets.io/v1alpha1
kind: PushSecret
metadata: {name: push}
spec:
  deletionPolicy: Delete
  secretStoreRefs: [{name: fake}]
  selector: {secret: {name: app}}
  data: [{match: {secretKey: k, remoteRef: {remoteKey: pushed}}}]
"""
    written(host.manifests, push=push)
    items = host.sync()
    assert list(one(items, "PushSecret/push")["status"]["syncedPushSecrets"]) == ["SecretStore/fake"]
    (host.manifests / "push.yaml").unlink()
    assert host.plan()["pushes"] == [
        {"action": "delete", "store": "SecretStore/default/fake", "remoteKey": "pushed", "property": ""}
    ]
    assert "PushSecret/push" not in named(host.sync())


def test_without_a_state_each_pass_is_a_life_of_its_own(tmp_path: Path, host: Host) -> None:
    arguments = ("sync", "-f", host.manifests, "--output-dir", host.out)
    assert syncret(*arguments).returncode == 0
    before = faces(host.out)
    assert syncret(*arguments).returncode == 0
    assert faces(host.out) == before
    assert syncret("sync", "-f", host.manifests).returncode == 0, (
        "without an output folder nothing is written"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["manifests", "out"]


def test_the_state_holds_no_value(host: Host) -> None:
    given = "apiVersion: v1\nkind: Secret\nmetadata: {name: given}\nstringData: {p: v2-hush}\n"
    written(host.manifests, given=given)
    host.sync()
    left = list(host.state.parent.iterdir())
    assert host.state in left
    for file in left:
        content = file.read_bytes()
        assert not any(value.encode() in content for value in SECRETS)


# ----------------------------------------------------------------------------------------------------- output
def test_a_table_and_a_summary_for_people(host: Host) -> None:
    done = syncret("sync", *host.places)
    assert done.stdout.splitlines()[0].split() == ["KIND", "NAME", "READY", "NEXT", "WHERE", "STATUS"]
    assert "default/app" in done.stdout
    assert "\x1b" not in done.stdout + done.stderr, "no colours and no progress in a pipe"
    (summary,) = done.stderr.splitlines()
    assert summary.startswith("1 created, 0 changed, 0 deleted, 0 failed, 0 invalid in ")


def test_documents_are_alone_on_stdout(host: Host) -> None:
    written(host.manifests, bad="kind: [\n", failing=external("failing", "absent"))
    done = syncret("sync", *host.places, "-o", "json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["kind"] == "List"
    assert len(done.stdout.splitlines()) == 1
    assert f"{host.manifests}/bad.yaml:2: error: is not valid YAML" in done.stderr
    told = one(json.loads(done.stdout)["items"], "ExternalSecret/failing")["status"]["conditions"][0]
    assert (told["status"], told["reason"]) == ("False", "SecretSyncedError")


def test_a_reader_that_leaves_early_is_no_error(host: Host) -> None:
    for number in range(50):
        written(host.manifests, **{f"app{number}": external(f"app{number}", "k")})
    with subprocess.Popen(
        [SYNCRET, "sync", *host.places, "-o", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(TIMEOUT) == 0


# ------------------------------------------------------------------------------------------------- exit codes
@pytest.mark.parametrize("command", ["sync", "plan"])
@pytest.mark.parametrize(
    ("more", "arguments", "code"),
    [
        pytest.param({}, [], 0, id="all synced"),
        pytest.param({"x": external("x", "absent")}, [], 1, id="one failed"),
        pytest.param({"x": external("x", "k", store="nowhere")}, [], 1, id="no store"),
        pytest.param({"x": "kind: [\n"}, [], 2, id="invalid manifest"),
        pytest.param({"x": "kind: [\n", "y": external("y", "absent")}, [], 2, id="invalid wins over failed"),
        pytest.param({}, ["--set", "nonsense=1"], 2, id="no such setting"),
        pytest.param({}, ["--nonsense"], 2, id="no such flag"),
    ],
)
def test_exit_codes(host: Host, command: str, more: dict[str, str], arguments: list[str], code: int) -> None:
    written(host.manifests, **more)
    done = syncret(command, *host.places, *arguments)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


# ------------------------------------------------------------------------------------------------------- plan
def test_a_plan_names_what_would_change(host: Host) -> None:
    change = {
        "action": "create",
        "object": "Secret/default/app",
        "added": ["k"],
        "changed": [],
        "removed": [],
    }
    assert host.plan()["changes"] == [change]
    assert not host.out.exists()
    host.sync()
    assert host.plan()["changes"] == []
    replaced(host.manifests / "store.yaml", store(k="v2-hush", other="o1"))
    assert host.plan()["changes"] == [], "it is not due"
    replaced(host.manifests / "app.yaml", external("app", "k", "other"))
    assert host.plan()["changes"] == [{**change, "action": "update", "added": ["other"], "changed": ["k"]}]
    replaced(host.manifests / "app.yaml", external("app", "other"))
    assert host.plan()["changes"] == [{**change, "action": "update", "added": ["other"], "removed": ["k"]}]
    (host.manifests / "app.yaml").unlink()
    assert host.plan()["changes"] == [{**change, "action": "delete", "added": [], "removed": ["k"]}]
    host.sync()
    assert files(host.out) == {}


def test_a_plan_sees_drift(host: Host) -> None:
    host.sync()
    (host.out / "default/app/k").write_text("edited")
    (change,) = host.plan()["changes"]
    assert (change["action"], change["changed"]) == ("update", ["k"])


def test_a_plan_while_a_daemon_uses_the_state(host: Host, tmp_path: Path) -> None:
    with daemon(tmp_path, host.manifests) as running:
        out, state = tmp_path / "out", tmp_path / "state.db"
        done = syncret("plan", "-f", host.manifests, "--output-dir", out, "--state", state)
        assert (done.returncode, done.stdout, done.stderr) == (0, "nothing would change\n", "")
        assert running.stop() == 0


def test_a_plan_for_people(host: Host) -> None:
    host.sync()
    written(host.manifests, app=external("app", "other"), new=external("new", "k"), bad="kind: [\n")
    done = syncret("plan", *host.places)
    assert done.returncode == 2
    assert done.stdout.splitlines() == [
        "~ Secret/default/app",
        "    + other",
        "    - k",
        "+ Secret/default/new",
        "    + k",
    ]
