"""What the operator has rendered is really run: Deployments as processes, with tokens of their accounts."""

import http.client
import json
import ssl
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from syncret.config.meta import Document, member
from tests.real.e2e.process import until
from tests.real.operator.node import SECRET, Node
from tests.real.operator.operating import OPERAND, WITHIN, operating
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

HOST: Final = f"external-secrets-webhook.{OPERAND}.svc"


async def test_three_processes_do_their_work(api: KubeApi, namespace: str, tmp_path: Path) -> None:
    """The certificate is made and served, an ExternalSecret is synced, a bad one is refused."""
    async with operating(api, namespace) as operated:
        await operated.install()
    node = Node(api, tmp_path)
    with ExitStack() as stack:
        pods = [node.run("external-secrets-cert-controller", stack)]
        until(lambda: member(api.get(SECRET) or {}, "data").get("tls.crt"), "a certificate", WITHIN)
        node.mount()
        pods += [node.run(each, stack) for each in ("external-secrets-webhook", "external-secrets")]
        group = f"/apis/external-secrets.io/v1/namespaces/{namespace}"
        fake = {"fake": {"data": [{"key": "k", "value": "v"}]}}
        api.create(f"{group}/secretstores", {**head("SecretStore", "s"), "spec": {"provider": fake}})
        data = [{"secretKey": "a", "remoteRef": {"key": "k"}}]
        spec = {"secretStoreRef": {"name": "s"}, "refreshInterval": "1h", "data": data}
        api.create(f"{group}/externalsecrets", {**head("ExternalSecret", "e"), "spec": spec})
        synced = f"/api/v1/namespaces/{namespace}/secrets/e"
        until(lambda: member(api.get(synced) or {}, "data") == {"a": "dg=="}, "synced", WITHIN)
        until(lambda: answers(node), "the webhook answers", WITHIN)
        assert review(node, {**head("ExternalSecret", "e"), "spec": spec})["allowed"] is True
        refused = review(node, {**head("ExternalSecret", "e"), "spec": {**spec, "data": 2 * data}})
        assert refused["allowed"] is False
        assert "duplicate secretKey" in refused["status"]["message"]
    for pod in pods:
        assert "Traceback" not in pod.log.read_text()
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
