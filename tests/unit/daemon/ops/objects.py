"""Objects for the simulated cluster."""

from collections.abc import Awaitable, Callable

from syncret.config.fields import Json
from syncret.config.meta import Document

CANARY = "hunter2-canary"
API = "external-secrets.io/v1"

Apply = Callable[..., Awaitable[None]]


def store(name: str = "demo", **values: str) -> Document:
    data = [{"key": key, "value": value} for key, value in values.items()]
    return named("SecretStore", name, {"provider": {"fake": {"data": data}}})


def external_secret(name: str = "database", key: str = "database", **spec: Json) -> Document:
    return named(
        "ExternalSecret",
        name,
        {
            "refreshInterval": "1h",
            "secretStoreRef": {"name": "demo"},
            "data": [{"secretKey": "password", "remoteRef": {"key": key}}],
            **spec,
        },
    )


def named(kind: str, name: str, spec: Document) -> Document:
    metadata = {"name": name} if kind.startswith("Cluster") else {"name": name, "namespace": "default"}
    return {"apiVersion": API, "kind": kind, "metadata": metadata, "spec": spec}
