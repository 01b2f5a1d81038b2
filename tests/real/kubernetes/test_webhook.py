"""The webhook as an API server calls it: what is refused, whom it trusts, and what its parts do alone."""

import urllib.request
from base64 import b64decode
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from syncret.config.meta import Document, member
from tests.real.e2e.process import daemon, free_port
from tests.support.servers.kube.running import KubeApi
from tests.support.servers.kube.webhooks import registered, trusts

pytestmark = pytest.mark.slow


class Hook:
    """The settings of a webhook in a namespace, and what the API server says through it."""

    def __init__(self, api: KubeApi, namespace: str, kubeconfig: Path) -> None:
        self.api = api
        self.namespace = namespace
        self.port, self.health = free_port(), free_port()
        self._kubeconfig = kubeconfig

    def flags(self, *more: str) -> tuple[str, ...]:
        chosen = {
            "webhook.enabled": "true",
            "webhook.port": self.port,
            "webhook.healthzAddr": f"127.0.0.1:{self.health}",
            "webhook.dnsName": "127.0.0.1",
            "webhook.service": f"{self.namespace}/hook",
            "webhook.secret": f"{self.namespace}/hook",
            "webhook.checkInterval": "1s",
            "kubeconfig": self._kubeconfig,
        }
        settings = (f"--set={name}={value}" for name, value in chosen.items())
        return ("--kubernetes", "--namespace", self.namespace, *settings, *more)

    def create(self, name: str, **spec: Any) -> tuple[int, str]:  # noqa: ANN401  # any member
        path = f"/apis/external-secrets.io/v1/namespaces/{self.namespace}/externalsecrets"
        answer = self.api.request("POST", f"{path}?dryRun=All", {**sync(name), "spec": spec})
        return answer.status, answer.body.get("message", "")

    @property
    def is_ready(self) -> bool:
        return probed(self.health, "readyz")

    @property
    def secret(self) -> dict[str, bytes]:
        found = self.api.get(f"/api/v1/namespaces/{self.namespace}/secrets/hook") or Document()
        return {name: b64decode(value) for name, value in member(found, "data").items()}

    def judges(self) -> bool:
        """Whether the API server asks it, and trusts it."""
        return self.is_ready and trusts(self.api) and self.create("x", **GOOD)[0] == 201


GOOD: Document = {"data": [{"secretKey": "a", "remoteRef": {"key": "k"}}], "secretStoreRef": {"name": "s"}}
TWICE: Document = {**GOOD, "data": [*GOOD["data"], *GOOD["data"]]}


def probed(port: int, path: str) -> bool:
    """Whether a probe is answered with 200."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}") as answer:  # ours
            return bool(answer.status == 200)
    except HTTPError as error:
        error.close()
    except OSError:
        pass  # it does not listen yet
    return False


def sync(name: str) -> Document:
    metadata = {"name": name}
    return {"apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret", "metadata": metadata}


@pytest.fixture
def hook(api: KubeApi, namespace: str, kubeconfig: Path) -> Hook:
    return Hook(api, namespace, kubeconfig)


def test_the_controller_serves_it_and_sees_to_its_certificate(tmp_path: Path, hook: Hook) -> None:
    with registered(hook.api, hook.port), daemon(tmp_path, None, *hook.flags()) as process:
        process.until(hook.judges, "called by the API server")
        status, message = hook.create("x", **TWICE)
        assert status == 403
        assert "denied the request: duplicate secretKey found: a" in message
        assert sorted(hook.secret) == ["ca.crt", "ca.key", "tls.crt", "tls.key"]
        path = "/validate-external-secrets-io-v1-externalsecret"
        assert process.metric("controller_runtime_webhook_requests_total", webhook=path, code="200") >= 2
        assert process.metric("controller_runtime_webhook_requests_in_flight", webhook=path) == 0
        assert process.stop() == 0
        assert "Traceback" not in process.stderr


def test_parts_are_processes_of_their_own(tmp_path: Path, hook: Hook) -> None:
    """One keeps the certificates in the Secret; one serves them from files, and asks no API server."""
    folder, kept, served = (tmp_path / name for name in ("certs", "keeper", "server"))
    for each in (folder, kept, served):
        each.mkdir()
    keeps = hook.flags("--only=certificates", "--set=webhook.healthzAddr=")
    serves = (
        *("--kubernetes", "--only=webhook", f"--port={hook.port}", "--dns-name=127.0.0.1"),
        *(f"--cert-dir={folder}", f"--healthz-addr=127.0.0.1:{hook.health}", "--check-interval=1s"),
    )
    with ExitStack() as stack:
        stack.enter_context(registered(hook.api, hook.port))
        keeper = stack.enter_context(daemon(kept, None, *keeps, ready=False))
        server = stack.enter_context(daemon(served, None, *serves, ready=False))
        keeper.until(lambda: trusts(hook.api), "the authority told")
        server.until(lambda: probed(hook.health, "healthz"), "running")
        assert not hook.is_ready
        for name in ("tls.crt", "tls.key"):
            (folder / name).write_bytes(hook.secret[name])
        server.until(hook.judges, "called by the API server")
        assert hook.create("x", **TWICE)[0] == 403
        assert keeper.stop() == 0
        assert server.stop() == 0
