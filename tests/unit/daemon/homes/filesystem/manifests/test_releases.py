"""A release in a file of manifests: what it makes are manifests of the file; a mistake makes none."""

import json
from base64 import b64encode

from syncret.config.meta import Document
from syncret.daemon.homes.contract import RefusalReason
from syncret.daemon.homes.filesystem.manifests.reader import FileContent, ManifestReader
from syncret.providers.registry import Registry
from tests.support.canary import CANARY, leaks

HEAD = "---\napiVersion: syncret.dev/v1alpha1\nkind: "
MODULE = (
    HEAD
    + """Module
metadata: {name: app}
spec:
  config:
    token: {$opm: secret, $secretName: token, $dataKey: token}
    password: {$opm: secret, $secretName: db, $dataKey: password, $constraints: {minRunes: 8}}
  container: {image: x, env: {P: {from: config.password}}}
"""
)
PLATFORM = HEAD + "Platform\nspec: {secretStoreRef: {name: s, kind: SecretStore}}\n"
ESO = "{source: k8s-eso, path: db, remoteKey: p}"
OTHER = "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"


def release(password: str = ESO, token: str = f"{{value: '{CANARY}'}}", metadata: str = "{}") -> str:
    values = f"{{password: {password}, token: {token}}}"
    return f"{HEAD}Release\nmetadata: {metadata}\nspec:\n  values: {values}\n"


def read(*documents: str) -> FileContent:
    return ManifestReader(Registry()).read("all.yaml", "".join(documents).encode())


def objects(content: FileContent) -> dict[str, Document]:
    found = {
        f"{each.ref.kind}/{each.ref.namespace}/{each.ref.name}": each.document for each in content.manifests
    }
    return {name: document for name, document in found.items() if document is not None}


def problems(content: FileContent) -> list[tuple[int, str, str]]:
    return [(each.problem.line, each.problem.path, each.problem.message) for each in content.problems]


def test_its_secrets_are_manifests_of_the_file() -> None:
    content = read(OTHER, MODULE, release(), PLATFORM)
    found = objects(content)
    assert list(found) == [
        "ConfigMap/default/other",
        "Secret/default/token",
        "ExternalSecret/default/db",
    ]
    assert found["Secret/default/token"]["data"] == {"token": b64encode(CANARY.encode()).decode()}
    external = found["ExternalSecret/default/db"]
    assert external["spec"]["secretStoreRef"] == {"name": "s", "kind": "SecretStore"}
    carried = json.loads(external["metadata"]["annotations"]["syncret.dev/constraints"])
    assert carried == {"keys": {"password": [{"minRunes": 8}]}, "policy": "block"}
    assert content.problems == []
    assert {each.line for each in content.manifests} == {2, 15}


def test_they_are_in_the_namespace_of_the_release() -> None:
    found = objects(read(MODULE, release(metadata="{name: prod, namespace: shop}"), PLATFORM))
    assert list(found) == ["Secret/shop/token", "ExternalSecret/shop/db"]


def test_what_a_release_makes_follows_its_values() -> None:
    one, two = (read(MODULE, release(f"{{value: {text}}}"), PLATFORM) for text in ("value-one", "value-two"))
    digests = [{each.ref.name: each.digest for each in content.manifests} for content in (one, two)]
    assert digests[0].keys() == digests[1].keys() == {"db", "token"}
    assert digests[0]["token"] == digests[1]["token"]
    assert digests[0]["db"] != digests[1]["db"]


def test_a_mistake_makes_nothing_and_leaves_in_force_what_was_said() -> None:
    content = read(OTHER, MODULE, release(f"{{valeu: {CANARY}}}"), PLATFORM)
    assert list(objects(content)) == ["ConfigMap/default/other"]
    assert content.has_unnamed_documents
    assert problems(content) == [(19, "spec.values.password.valeu", "there is no such member")]
    assert content.problems[0].reason is RefusalReason.SYNTAX
    assert leaks("problems", str(content.problems)) == []


def test_beside_a_document_that_cannot_be_read_nothing_is_rendered() -> None:
    content = read(MODULE, release(), PLATFORM, "---\nkind: [\n")
    assert objects(content) == {}
    assert content.has_unnamed_documents


def test_a_warning_does_not_keep_anything() -> None:
    platform = PLATFORM.replace("spec: {", "spec: {production: true, ")
    content = read(MODULE, release(), platform)
    assert list(objects(content)) == ["Secret/default/token", "ExternalSecret/default/db"]
    assert [path for _, path, _ in problems(content)] == ["spec.values.token"]
    assert not content.has_unnamed_documents


def test_tags_are_not_resolved() -> None:
    content = read(MODULE, release(token="'@env(HOME)'"), PLATFORM)
    assert objects(content) == {}
    assert [message for _, _, message in problems(content)] == [
        "a tag is resolved by `syncret release` alone"
    ]


def test_a_release_of_references_alone_makes_nothing_and_keeps_nothing() -> None:
    reference = "{source: k8s, path: there, remoteKey: k}"
    content = read(MODULE, release(reference, reference))
    assert (objects(content), content.has_unnamed_documents, content.problems) == ({}, False, [])


def test_parts_that_do_not_belong_together() -> None:
    for parts in ((release(),), (MODULE, MODULE, release(), PLATFORM), (PLATFORM,)):
        content = read(*parts)
        assert objects(content) == {}
        assert content.has_unnamed_documents
        assert content.problems
