"""Tenants of one host, whose folders are bound: whatever one refers to, it gets nothing of another."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from aiohttp import web

from syncret.config.meta import ObjectRef
from syncret.config.settings import BoundFolder, Settings
from syncret.daemon.one_pass import SyncResult, one_pass
from syncret.providers.registry import Registry
from tests.support.served import all_to, served

CANARY = "canary-of-team-a"
OPERATOR = """
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: by-name}
spec:
  conditions: [{namespaces: [team-a]}]
  provider: {fake: {data: [{key: k, value: canary-of-team-a}]}}
---
apiVersion: external-secrets.io/v1
kind: ClusterSecretStore
metadata: {name: by-label}
spec:
  conditions: [{namespaceSelector: {matchLabels: {trusted: "yes"}}}]
  provider: {fake: {data: [{key: k, value: canary-of-team-a}]}}
---
apiVersion: v1
kind: Namespace
metadata: {name: team-a, labels: {trusted: "yes"}}
"""
TEAM_A = """
apiVersion: v1
kind: Secret
metadata: {name: token, namespace: team-a, labels: {external-secrets.io/type: webhook}}
stringData: {key: canary-of-team-a}
---
apiVersion: v1
kind: Secret
metadata: {name: only-a, namespace: team-a}
stringData: {key: canary-of-team-a}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: store-a, namespace: team-a}
spec: {provider: {fake: {data: [{key: k, value: canary-of-team-a}]}}}
---
apiVersion: generators.external-secrets.io/v1alpha1
kind: Fake
metadata: {name: generator-a, namespace: team-a}
spec: {data: {k: canary-of-team-a}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: own, namespace: team-a}
spec:
  secretStoreRef: {kind: ClusterSecretStore, name: by-label}
  data: [{secretKey: k, remoteRef: {key: k}}]
"""
WEBHOOK = """
apiVersion: v1
kind: Secret
metadata: {name: token, namespace: team-b, labels: {external-secrets.io/type: webhook}}
stringData: {key: of-team-b}
---
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: webhook, namespace: team-b}
spec:
  provider:
    webhook:
      url: "%s/{{ .remoteRef.key }}"
      headers: {x-token: "{{ .token.key }}"}
      result: {jsonPath: $.k}
      secrets: [{name: token, secretRef: {name: token, key: key, namespace: team-a}}]
"""
TRY = """
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: try, namespace: team-b}
spec: {%s}
"""
PUSH = """
apiVersion: external-secrets.io/v1alpha1
kind: PushSecret
metadata: {name: try, namespace: team-b}
spec:
  secretStoreRefs: [{name: webhook}]
  selector: {%s}
  data: [{match: {secretKey: k, remoteRef: {remoteKey: r}}}]
"""
DATA = "data: [{secretKey: k, remoteRef: {key: k}}]"


class Host:
    """A server that a tenant chose, and one pass over the folders of all."""

    def __init__(self, folder: Path, server: str, received: list[str]) -> None:
        self.received = received
        self._server = server
        self._folder = folder
        for name in ("operator", "team-a", "team-b"):
            (folder / name).mkdir()
        (folder / "operator/all.yaml").write_text(OPERATOR)
        (folder / "team-a/all.yaml").write_text(TEAM_A)

    async def sync(self, *tries: str) -> SyncResult:
        documents = [WEBHOOK % self._server, *tries]
        (self._folder / "team-b/all.yaml").write_text("---".join(documents))
        bound = [
            BoundFolder(path=str(self._folder / name), namespaces=(name,)) for name in ("team-a", "team-b")
        ]
        settings = Settings(
            manifests=(str(self._folder / "operator"), *bound), output_dir="", state_file="", socket=""
        )
        return await one_pass(settings, Registry())


@pytest.fixture
async def host(tmp_path: Path) -> AsyncGenerator[Host]:
    received: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        received.append(f"{request.path} {dict(request.headers)} {await request.text()}")
        return web.json_response({"k": "of-the-server"})

    async with served(all_to(answer)) as server:
        yield Host(tmp_path, server, received)


def of_team_b(result: SyncResult) -> str:
    return json.dumps([each for each in result.outputs if each["metadata"]["namespace"] == "team-b"])


async def test_a_secret_of_another_namespace_is_not_sent(host: Host) -> None:
    """The namespace of the reference is not that of the store: the store's own is read."""
    result = await host.sync(TRY % f"secretStoreRef: {{name: webhook}}, {DATA}")
    assert not result.failures
    assert "of-team-b" in host.received[-1]
    assert CANARY not in "".join(host.received)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param(TRY % f"secretStoreRef: {{name: store-a}}, {DATA}", "store-a", id="its-store"),
        pytest.param(
            TRY % f"secretStoreRef: {{kind: ClusterSecretStore, name: by-name}}, {DATA}",
            "by-name",
            id="by-name",
        ),
        pytest.param(
            TRY % f"secretStoreRef: {{kind: ClusterSecretStore, name: by-label}}, {DATA}",
            "by-label",
            id="by-label",
        ),
        pytest.param(
            TRY % "dataFrom: [{sourceRef: {generatorRef: {kind: Fake, name: generator-a}}}]",
            "generator-a",
            id="its-generator",
        ),
        pytest.param(
            TRY % f"secretStoreRef: {{name: webhook}}, {DATA}, target: {{template: {{templateFrom: "
            "[{secret: {name: only-a, items: [{key: key}]}}]}}",
            "only-a",
            id="its-secret-in-a-template",
        ),
        pytest.param(PUSH % "secret: {name: only-a}", "only-a", id="its-secret-to-push"),
        pytest.param(
            PUSH % "generatorRef: {kind: Fake, name: generator-a}", "generator-a", id="its-generator-to-push"
        ),
    ],
)
async def test_what_another_namespace_has_is_not_there(host: Host, given: str, told: str) -> None:
    result = await host.sync(given)
    [(ref, error)] = result.failures.items()
    assert (ref.namespace, ref.name) == ("team-b", "try")
    assert told in error
    assert CANARY not in of_team_b(result) + "".join(host.received)


LABEL = """
apiVersion: v1
kind: Namespace
metadata: {name: team-b, labels: {trusted: "yes"}}
"""
STEAL = """
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: thief, namespace: team-a}
spec:
  provider:
    webhook:
      url: "http://127.0.0.1:1/"
      headers: {x-token: "{{ .token.key }}"}
      result: {jsonPath: $.k}
      secrets: [{name: token, secretRef: {name: token, key: key}}]
"""


@pytest.mark.parametrize("document", [LABEL, STEAL], ids=["its-own-label", "a-store-in-anothers-namespace"])
async def test_a_document_outside_of_its_folder_changes_nothing(host: Host, document: str) -> None:
    by_label = TRY % f"secretStoreRef: {{kind: ClusterSecretStore, name: by-label}}, {DATA}"
    result = await host.sync(document, by_label)
    assert [problem.problem.fatal for problem in result.problems] == [True]
    assert ObjectRef("external-secrets.io", "ExternalSecret", "team-b", "try") in result.failures
    assert "thief" not in json.dumps(result.resources)
    assert CANARY not in of_team_b(result) + "".join(host.received)


async def test_the_owner_gets_what_is_meant_for_it(host: Host) -> None:
    result = await host.sync()
    assert not result.failures
    assert not result.problems
    assert [each["metadata"]["name"] for each in result.outputs] == ["own"]
