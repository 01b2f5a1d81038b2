"""Objects for the simulated cluster, and a service on an engine that runs already."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.daemon.ops.view import Service, View

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


@asynccontextmanager
async def serving(service: Service, view: View) -> AsyncGenerator[None, None]:
    async with service(view.settings) as serve, serve(view):
        yield
