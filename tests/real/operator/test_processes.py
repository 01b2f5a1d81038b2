"""What the operator has rendered is really run: Deployments as processes, with tokens of their accounts."""

import http.client
import json
import signal
import ssl
import subprocess
from base64 import b64decode
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from syncret.config.meta import Document, member
from tests.real.e2e.process import SYNCRET, environment, free_port, until
from tests.real.operator.operating import OPERAND, operating
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

DEPLOYMENTS: Final = f"/apis/apps/v1/namespaces/{OPERAND}/deployments"
SECRET: Final = f"/api/v1/namespaces/{OPERAND}/secrets/external-secrets-webhook"
HOST: Final = f"external-secrets-webhook.{OPERAND}.svc"
FIELDS: Final = {"metadata.name": "pod-1", "metadata.namespace": OPERAND, "metadata.uid": "uid-1"}


class Node:
    """Runs Pods as processes: three share one machine, so that ports and folders are others."""

    def __init__(self, api: KubeApi, folder: Path) -> None:
        self.port = free_port()
        self._api, self._folder = api, folder
        self._replaced = {
            "listen=:8080": "listen=127.0.0.1:0",
            "healthListen=:8082": "healthListen=127.0.0.1:0",
            "webhook.port=10250": f"webhook.port={self.port}",
            "webhook.certDir=/tmp/certs": f"webhook.certDir={self.mounted}",
        }

    @property
    def mounted(self) -> Path:
        """Where the certificate of the webhook is."""
        return self._folder / "certs"

    def mount(self) -> None:
        """Write what the Secret holds, as a kubelet does."""
        self.mounted.mkdir()
        for name, value in member(self._api.get(SECRET) or {}, "data").items():
            (self.mounted / name).write_bytes(b64decode(value))

    def run(self, name: str, stack: ExitStack) -> Path:
        """Start a Deployment's container; returns its log."""
        pod: Any = (self._api.get(f"{DEPLOYMENTS}/{name}") or {})["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        own = self._folder / name
        own.mkdir()
        log = own / "log"
        process = subprocess.Popen(
            [SYNCRET, *self._arguments(container["args"])],
            env=environment(**self._variables(container["env"]), **self._given(own, pod)),
            stdout=stack.enter_context(log.open("wb")),
            stderr=subprocess.STDOUT,
        )
        stack.callback(process.wait, 20)
        stack.callback(process.send_signal, signal.SIGTERM)
        return log

    def _arguments(self, given: Sequence[str]) -> Sequence[str]:
        return [self._replaced.get(each, each) for each in given]

    def _variables(self, given: Sequence[Document]) -> Mapping[str, str]:
        return {
            each["name"]: each.get("value", "")
            if "valueFrom" not in each
            else FIELDS[each["valueFrom"]["fieldRef"]["fieldPath"]]
            for each in given
        }

    def _given(self, own: Path, pod: Document) -> Mapping[str, str]:
        """What a node gives to a Pod, and folders of its own."""
        given = {
            "SYNCRET_SOCKET": str(own / "control"),
            "SYNCRET_WEBHOOK_HEALTHZ_ADDR": f"127.0.0.1:{free_port()}",
        }
        if pod.get("automountServiceAccountToken") is False:
            return given
        token = self._api.token(OPERAND, pod["serviceAccountName"])
        document = {
            "current-context": "pod",
            "contexts": [{"name": "pod", "context": {"cluster": "own", "user": "account"}}],
            "clusters": [
                {
                    "name": "own",
                    "cluster": {"server": self._api.url, "certificate-authority-data": self._api.ca_base64},
                }
            ],
            "users": [{"name": "account", "user": {"token": token}}],
        }
        kubeconfig = own / "kubeconfig"
        kubeconfig.write_text(json.dumps(document))
        return {**given, "SYNCRET_KUBECONFIG": str(kubeconfig)}


async def test_three_processes_do_their_work(api: KubeApi, namespace: str, tmp_path: Path) -> None:
    """The certificate is made and served, an ExternalSecret is synced, a bad one is refused."""
    async with operating(api, namespace) as operated:
        await operated.install()
    node = Node(api, tmp_path)
    with ExitStack() as stack:
        logs = [node.run("external-secrets-cert-controller", stack)]
        until(lambda: member(api.get(SECRET) or {}, "data").get("tls.crt"), "a certificate")
        node.mount()
        logs += [node.run(each, stack) for each in ("external-secrets-webhook", "external-secrets")]
        group = f"/apis/external-secrets.io/v1/namespaces/{namespace}"
        fake = {"fake": {"data": [{"key": "k", "value": "v"}]}}
        api.create(f"{group}/secretstores", {**head("SecretStore", "s"), "spec": {"provider": fake}})
        data = [{"secretKey": "a", "remoteRef": {"key": "k"}}]
        spec = {"secretStoreRef": {"name": "s"}, "refreshInterval": "1h", "data": data}
        api.create(f"{group}/externalsecrets", {**head("ExternalSecret", "e"), "spec": spec})
        synced = f"/api/v1/namespaces/{namespace}/secrets/e"
        until(lambda: member(api.get(synced) or {}, "data") == {"a": "dg=="}, "synced")
        until(lambda: answers(node), "the webhook answers")
        assert review(node, {**head("ExternalSecret", "e"), "spec": spec})["allowed"] is True
        refused = review(node, {**head("ExternalSecret", "e"), "spec": {**spec, "data": 2 * data}})
        assert refused["allowed"] is False
        assert "duplicate secretKey" in refused["status"]["message"]
    for log in logs:
        assert "Traceback" not in log.read_text()
    for account in ("external-secrets", "external-secrets-cert-controller"):
        asked = api.audited(OPERAND, account)
        assert asked
        assert not [f"{each.verb} {each.uri}" for each in asked if each.status == 403]


def head(kind: str, name: str) -> Document:
    """The head of an object."""
    return {"apiVersion": "external-secrets.io/v1", "kind": kind, "metadata": {"name": name}}


def connected(node: Node) -> http.client.HTTPConnection:
    """A connection as the API server makes it: to the Service's name, trusting one authority alone."""
    context = ssl.create_default_context(cadata=(node.mounted / "ca.crt").read_text())
    connection = http.client.HTTPConnection("127.0.0.1", node.port, timeout=5)
    connection.connect()
    connection.sock = context.wrap_socket(connection.sock, server_hostname=HOST)
    return connection


def answers(node: Node) -> bool:
    """Whether somebody listens."""
    try:
        connected(node).close()
    except ConnectionError:
        return False
    return True


def review(node: Node, document: Document) -> Document:
    """What the webhook answers about the creation of an object."""
    request = {"uid": "1", "operation": "CREATE", "object": document, "namespace": "n", "name": "e"}
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    connection = connected(node)
    path = "/validate-external-secrets-io-v1-externalsecret"
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    found: Document = json.loads(connection.getresponse().read())["response"]
    connection.close()
    return found
