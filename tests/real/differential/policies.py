"""Every creation policy with every deletion policy, on every kind of target: kept, rotated, lost, let go."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Final

from syncret.config.meta import Document
from tests.real.differential.scenarios import Scenario

CREATION: Final = ("Owner", "Orphan", "Merge", "None")
DELETION: Final = ("Retain", "Delete", "Merge")
_NAME: Final = "es"


def _secret(*owners: Document, immutable: bool = False) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": _NAME, "labels": {"its": "own"}, "ownerReferences": list(owners)},
        "data": {"foreign": "Zg==", "a": "b2xk"},
        "immutable": immutable,
    }


def _owner(kind: str, api_version: str) -> Document:
    uid = "11111111-2222-3333-4444-555555555555"
    return {"apiVersion": api_version, "kind": kind, "name": "other", "uid": uid, "controller": True}


TARGETS: Final[Mapping[str, Document | None]] = {
    "new": None,
    "existing": _secret(),
    "of another ExternalSecret": _secret(_owner("ExternalSecret", "external-secrets.io/v1")),
    "of another controller": _secret(_owner("Deployment", "apps/v1")),
    "immutable": _secret(immutable=True),
}
"""What there is of the target before."""


def _store(namespace: str, **values: str) -> Document:
    data = [{"key": key, "value": value} for key, value in values.items()]
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "SecretStore",
        "metadata": {"name": "policies", "namespace": namespace},
        "spec": {"provider": {"fake": {"data": data}}},
    }


def _named(namespace: str) -> Document:
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "ExternalSecret",
        "name": _NAME,
        "namespace": namespace,
    }


def _forced(namespace: str, why: str) -> Document:
    return {**_named(namespace), "merge": {"metadata": {"annotations": {"force-sync": why}}}}


def _step(apply: Sequence[Document] = (), patch: Sequence[Document] = (), *gone: Document) -> Document:
    return {"apply": apply, "patch": patch, "delete": gone}


def policies() -> Iterator[Scenario]:
    """All of them. One key is given twice: of one that is lost, the other stays."""
    for creation, deletion, (target, standing) in product(CREATION, DELETION, TARGETS.items()):
        namespace = f"{creation}-{deletion}-{target}".replace(" ", "-").lower()
        before: list[Document] = []
        if standing is not None:
            before.append({**standing, "metadata": {**standing["metadata"], "namespace": namespace}})
        wanted = {
            "apiVersion": "external-secrets.io/v1",
            "kind": "ExternalSecret",
            "metadata": {"name": _NAME, "namespace": namespace, "labels": {"team": "a"}},
            "spec": {
                "refreshInterval": "1h",
                "secretStoreRef": {"name": "policies", "kind": "SecretStore"},
                "target": {"creationPolicy": creation, "deletionPolicy": deletion},
                "dataFrom": [{"find": {"name": {"regexp": "^[ab]$"}}}],
            },
        }
        yield Scenario(
            f"policies: {creation}, {deletion}, {target}",
            (
                _step([_store(namespace, a="1", b="2"), *before]),
                _step([wanted]),
                _step([_store(namespace, a="one")], [_forced(namespace, "rotated")]),
                _step([_store(namespace, other="x")], [_forced(namespace, "lost")]),
                _step((), (), _named(namespace)),
            ),
            frozenset({namespace}),
            frozenset(),
            is_drawn=False,
        )
