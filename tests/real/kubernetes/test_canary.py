"""A value planted in the objects of a cluster is shown by no command and no daemon that works there."""

import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen

import pytest
import yaml

from syncret.config.meta import Document, member, ref_of
from syncret.config.resources.kinds import Kinds
from syncret.providers.registry import Registry
from tests.real.e2e.manifests import written
from tests.real.e2e.process import TIMEOUT, Daemon, daemon, files, syncret
from tests.real.e2e.test_canary import BAD_STORE, FAILING, GIVEN, GOOD, INVALID, STORE, planted
from tests.real.kubernetes.test_webhook import Hook
from tests.support.canary import CANARY, leaks
from tests.support.servers.kube.crds import collection
from tests.support.servers.kube.running import KubeApi
from tests.support.servers.kube.webhooks import registered

pytestmark = pytest.mark.slow

ASKED: Final = ("plain", "bad-json", "no-property", "template-0", "template-5", "undecodable", "push-seeded")
SYNC = "apiVersion: external-secrets.io/v1\nkind: ExternalSecret\nmetadata: {name: bad}\nspec:\n"
REVIEWED: Final = {
    **{name: text for name, text in INVALID.items() if text.startswith(BAD_STORE)},
    "template": SYNC + "  target: {template: 'CANARY'}\n",
    "template-list": SYNC + "  target: {template: {data: {a: ['CANARY']}}}\n",
    "template-type": SYNC + "  target: {template: {data: {a: 'CANARY'}, type: ['CANARY']}}\n",
    "template-from": SYNC + "  target: {template: {templateFrom: [{literal: 'CANARY', target: [x]}]}}\n",
}
"""Objects that the webhook is asked about, as a server without rules in its CRDs would."""


def documents(*texts: str) -> list[Document]:
    return [each for text in texts for each in yaml.safe_load_all(planted(text)) if each]


@pytest.fixture
def filled(api: KubeApi, namespace: str) -> Iterator[KubeApi]:
    """The namespace with a planted store, and objects that can and that cannot be synced from it."""
    kinds = Kinds(Registry())
    created: list[str] = []
    for each in documents(STORE, GIVEN, *GOOD.values(), *FAILING.values()):
        kind = kinds.find(ref_of(each).group_kind)
        assert kind is not None
        path = collection(kind, namespace)
        if api.request("POST", path, each).status < 300:
            created.append(f"{path}/{each['metadata']['name']}")
    assert len(created) > len(GOOD) + len(FAILING) - 3, "the rules of CRDs refuse hardly any of them"
    yield api
    for path in created:
        api.request("PATCH", path, {"metadata": {"finalizers": None}})
        api.request("DELETE", path)


def kind_of(name: str) -> str:
    return "PushSecret" if "PushSecret" in {**GOOD, **FAILING}[name] else "ExternalSecret"


def answers(process: Daemon) -> Iterator[tuple[str, str]]:
    """What a daemon says of all objects, and of some."""
    yield "/metrics", process.get("/metrics")
    for output in ("text", "json"):
        yield f"status -o {output}", process.ask("status", "-o", output).stdout
    for name in ASKED:
        yield f"explain {name}", process.ask("explain", f"{kind_of(name)}/{name}").stdout


def ended(process: Daemon) -> list[str]:
    assert process.stop() == 0
    return leaks("stdout", process.stdout) + leaks("stderr", process.stderr)


def test_commands_that_ask_the_api_server(
    filled: KubeApi, namespace: str, kubeconfig: Path, tmp_path: Path
) -> None:
    manifests = written(tmp_path / "manifests", store=planted(STORE), given=planted(GIVEN), **GOOD, **FAILING)
    config = f"kubeconfig={kubeconfig}"
    found: list[str] = []
    flags = ("--kubernetes", "--namespace", namespace, f"--set={config}", "--set=logLevel=debug")
    with daemon(tmp_path, None, *flags) as process:
        process.said("bad-json")
        for place, text in answers(process):
            found += leaks(place, text)
        commands = [
            ("status", "--kubernetes", "-n", namespace, "-o", "wide"),
            ("status", "--kubernetes", "-n", namespace, "-o", "json"),
            ("plan", "--kubernetes", "-n", namespace, "-f", str(manifests)),
            ("plan", "--kubernetes", "-n", namespace, "-f", str(manifests), "-o", "json"),
            ("migrate", "--namespace", namespace),
            ("migrate", "--namespace", namespace, "-o", "json"),
            *(("explain", "--kubernetes", f"{kind_of(name)}/{name}", "-n", namespace) for name in ASKED),
            ("explain", "--kubernetes", "SecretStore/fake", "-n", namespace, "-o", "json"),
            ("refresh", "--kubernetes", "ExternalSecret/bad-json", "-n", namespace, "--wait"),
        ]
        for command in commands:
            done = syncret(*command, "--set", config)
            assert "Traceback" not in done.stderr, command
            assert done.stdout or done.stderr, command
            found += leaks(" ".join(command), done.stdout + done.stderr)
        found += ended(process)
    for kind in ("externalsecrets", "secretstores"):
        every = filled.request("GET", f"/apis/external-secrets.io/v1/namespaces/{namespace}/{kind}")
        statuses = [member(each, "status") for each in every.body["items"]]
        assert any(statuses)
        found += leaks(f"status of {kind}", json.dumps(statuses))
    events = filled.request("GET", f"/api/v1/namespaces/{namespace}/events").body["items"]
    assert {"Created", "UpdateFailed"} <= {each["reason"] for each in events}
    found += leaks("events", json.dumps(events))
    assert not found, "\n".join(found)


@pytest.mark.usefixtures("filled")
def test_a_daemon_that_observes(namespace: str, kubeconfig: Path, tmp_path: Path) -> None:
    settings = {"observe": "true", "logLevel": "debug", "kubeconfig": kubeconfig}
    flags = [f"--set={name}={value}" for name, value in settings.items()]
    with daemon(tmp_path, None, "--kubernetes", "--namespace", namespace, *flags) as process:
        process.said("this would be written")
        found = [leak for place, text in answers(process) for leak in leaks(place, text)]
        assert "wouldWrite" in process.ask("status", "-o", "json").stdout
        found += ended(process)
    assert not found, "\n".join(found)


@pytest.mark.usefixtures("filled")
def test_a_sidecar(namespace: str, kubeconfig: Path, tmp_path: Path) -> None:
    out = tmp_path / "files"
    flags = ("--kubernetes", "--namespace", namespace, "--output-dir", str(out))
    more = (f"--set=kubeconfig={kubeconfig}", "--set=logLevel=debug")
    with daemon(tmp_path, None, *flags, *more) as process:
        assert files(out)[f"{namespace}/plain/plain"] == CANARY
        process.said("bad-json")
        found = [leak for place, text in answers(process) for leak in leaks(place, text)]
        found += ended(process)
    assert not found, "\n".join(found)


def test_the_webhook(api: KubeApi, namespace: str, kubeconfig: Path, tmp_path: Path) -> None:
    hook = Hook(api, namespace, kubeconfig)
    found: list[str] = []
    with registered(api, hook.port), daemon(tmp_path, None, *hook.flags("--set=logLevel=debug")) as process:
        process.until(hook.judges, "called by the API server")
        for name, text in REVIEWED.items():
            (document,) = documents(text)
            answer = reviewed(hook, document)
            assert not json.loads(answer)["response"]["allowed"], name
            found += leaks(f"review of {name}", answer)
        (store,) = documents(STORE)
        broken = reviewed(hook, {**store, "metadata": [CANARY]})
        found += leaks("a review that is broken", broken) + leaks("/metrics", process.get("/metrics"))
        found += ended(process)
    assert not found, "\n".join(found)


def reviewed(hook: Hook, document: Document) -> str:
    """What the webhook answers to a review of this object."""
    kind = str(document["kind"]).lower()
    body = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {"uid": "u", "operation": "CREATE", "object": document},
    }
    request = Request(  # our own server
        f"https://127.0.0.1:{hook.port}/validate-external-secrets-io-v1-{kind}",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    trust = ssl.create_default_context(cadata=hook.secret["ca.crt"].decode())
    with urlopen(request, timeout=TIMEOUT, context=trust) as answer:  # noqa: S310  # as above
        return str(answer.read().decode())
