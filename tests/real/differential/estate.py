"""Two hundred objects of many kinds, as they stand in a cluster that the operator has worked in.

Those with the policy None have no Secret: at each look their store is read, by the operator, too.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from syncret.config.meta import Document

GROUP: Final = "external-secrets.io"
GENERATORS: Final = "generators.external-secrets.io"
NAMESPACES: Final = tuple(f"team-{number}" for number in range(10))
LONG: Final = "8760h"
"""So long an interval that nothing is due while the test runs, wherever its slot is."""

ENTRIES: Final = [
    {"key": "plain", "value": "one"},
    {"key": "object", "value": '{"user": "a", "password": "b", "nested": {"deep": "c"}}'},
    {"key": "other", "value": '{"user": "z"}'},
]


def namespaces() -> Iterator[Document]:
    """Where everything is."""
    for number, name in enumerate(NAMESPACES):
        labels = {"team": name, "parity": "even" if number % 2 == 0 else "odd"}
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def estate(vault: str) -> Iterator[Document]:
    """Everything in them, in an order in which nothing waits for long; `vault` is the URL of a Vault."""
    yield _cluster("ClusterSecretStore", "shared", {"provider": {"fake": {"data": ENTRIES}}})
    yield _core(NAMESPACES[0], "Secret", "vault-login", stringData={"secret-id": "right"})
    login = {"name": "vault-login", "key": "secret-id", "namespace": NAMESPACES[0]}
    role = {"path": "approle", "roleId": "role", "secretRef": login}
    spec = {"server": vault, "path": "kv", "version": "v2", "auth": {"appRole": role}}
    yield _cluster("ClusterSecretStore", "vault", {"provider": {"vault": spec}})
    for namespace in NAMESPACES:
        yield from _in(namespace)
    one = {"data": [{"secretKey": "a", "remoteRef": {"key": "plain"}}], "refreshInterval": LONG}
    yield _cluster(
        "ClusterExternalSecret",
        "everywhere",
        {
            "namespaceSelectors": [{"matchLabels": {"parity": "even"}}],
            "externalSecretName": "fanned",
            "externalSecretMetadata": {"labels": {"from": "above"}},
            "refreshTime": LONG,
            "externalSecretSpec": {**one, "secretStoreRef": {"kind": "ClusterSecretStore", "name": "shared"}},
        },
    )
    pushed = {
        "pushSecretName": "fanned-push",
        "namespaceSelectors": [{"matchLabels": {"parity": "odd"}}],
        "refreshTime": LONG,
        "pushSecretSpec": _pushed("everywhere"),
    }
    push = _cluster("ClusterPushSecret", "everywhere", pushed)
    yield {**push, "apiVersion": f"{GROUP}/v1alpha1"}


def _in(namespace: str) -> Iterator[Document]:
    yield _of(namespace, "SecretStore", "s", {"provider": {"fake": {"data": ENTRIES}}})
    yield _core(namespace, "Secret", "merged", stringData={"theirs": "1"})
    yield _core(namespace, "Secret", "source", stringData={"a": "pushed"})
    yield _core(namespace, "ConfigMap", "templates", data={"t": "{{ .user }}:{{ .password }}"})
    yield _generator(namespace, "Password", "pw", {"length": 20, "digits": 5, "symbols": 0})
    for name, spec in _synced().items():
        labels = {"metadata": {"labels": {"app": name}, "annotations": {"note": "kept"}}}
        yield _of(namespace, "ExternalSecret", name, {"refreshInterval": LONG, **spec}, **labels["metadata"])
    yield {
        **_of(namespace, "PushSecret", "pushes", {}),
        "apiVersion": f"{GROUP}/v1alpha1",
        "spec": {**_pushed(f"{namespace}-pushed"), "deletionPolicy": "Delete"},
    }


def _pushed(key: str) -> Document:
    return {
        "refreshInterval": LONG,
        "secretStoreRefs": [{"name": "s"}],
        "selector": {"secret": {"name": "source"}},
        "data": [{"match": {"secretKey": "a", "remoteRef": {"remoteKey": key}}}],
    }


def _synced() -> Mapping[str, Mapping[str, Any]]:
    """ExternalSecrets by their names: sources, policies, templates."""
    store = {"secretStoreRef": {"name": "s"}}
    shared = {"secretStoreRef": {"kind": "ClusterSecretStore", "name": "shared"}}
    plain = [{"secretKey": "a", "remoteRef": {"key": "plain"}}]
    extract = [{"extract": {"key": "object"}}]
    drawn = [
        {
            "sourceRef": {
                "generatorRef": {"apiVersion": f"{GENERATORS}/v1alpha1", "kind": "Password", "name": "pw"}
            }
        }
    ]
    return {
        "owner": {**store, "data": plain},
        "vaulted": {
            "secretStoreRef": {"kind": "ClusterSecretStore", "name": "vault"},
            "dataFrom": [{"extract": {"key": "database"}}],
        },
        "shared": {**shared, "data": plain},
        "property": {
            **store,
            "data": [{"secretKey": "u", "remoteRef": {"key": "object", "property": "user"}}],
        },
        "extract": {**store, "dataFrom": extract},
        "find": {**shared, "dataFrom": [{"find": {"name": {"regexp": "^o"}}}]},
        "orphan": {**store, "data": plain, "target": {"creationPolicy": "Orphan"}},
        "merge": {**store, "data": plain, "target": {"name": "merged", "creationPolicy": "Merge"}},
        "none": {**store, "data": plain, "target": {"creationPolicy": "None"}},
        "deleted": {**store, "data": plain, "target": {"deletionPolicy": "Delete"}},
        "immutable": {**store, "data": plain, "target": {"immutable": True}},
        "once": {**store, "data": plain, "refreshPolicy": "CreatedOnce"},
        "change": {**store, "data": plain, "refreshPolicy": "OnChange"},
        "never": {**store, "data": plain, "refreshInterval": "0"},
        "drawn": {"dataFrom": drawn},
        "templated": {
            **store,
            "dataFrom": extract,
            "target": {
                "name": "templated-target",
                "template": {
                    "type": "kubernetes.io/basic-auth",
                    "metadata": {"labels": {"made": "here"}, "annotations": {"b": "c"}},
                    "data": {"username": "{{ .user }}", "password": "{{ .password | upper }}"},
                },
            },
        },
        "from-map": {
            **store,
            "dataFrom": extract,
            "target": {
                "template": {"templateFrom": [{"configMap": {"name": "templates", "items": [{"key": "t"}]}}]}
            },
        },
    }


def _of(namespace: str, kind: str, name: str, spec: Mapping[str, Any], **metadata: Any) -> Document:  # noqa: ANN401  # JSON
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": spec,
    }


def _cluster(kind: str, name: str, spec: Mapping[str, Any]) -> Document:
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def _generator(namespace: str, kind: str, name: str, spec: Mapping[str, Any]) -> Document:
    return {**_of(namespace, kind, name, spec), "apiVersion": f"{GENERATORS}/v1alpha1"}


def _core(namespace: str, kind: str, name: str, **content: Any) -> Document:  # noqa: ANN401  # JSON
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}, **content}
