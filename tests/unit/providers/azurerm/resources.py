"""Resources of Azure Service Operator, credentials of their namespaces, and how their secrets are read."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.config.settings import OwnIdentity, Settings
from syncret.config.settings.groups import OwnIdentityAzure
from syncret.daemon.engine.retry import LoginBackoff
from syncret.providers.azurerm import SECRET_APIS
from syncret.providers.azurerm.types import ResourceType, type_of
from syncret.providers.secret_apis import CallIdentity, SecretApisContext, SecretCalls, SecretReader
from syncret.providers.testing.opened import compute_at_once
from syncret.providers.values import SecretBytes
from tests.support.opened import NETWORK, Clock, door_of
from tests.support.servers.azure.directory import TENANT
from tests.support.servers.azure.server import Azure

NAMESPACE = "team-a"
SECRET = "s3cret-4f1c"


def type_named(text: str) -> ResourceType:
    """`storage/StorageAccount`."""
    group, _, kind = text.partition("/")
    found = type_of(f"{group}.azure.com", kind)
    assert found is not None
    return found


def resource(
    kind: str,
    at: str = "",
    *,
    annotations: Mapping[str, str] | None = None,
    **status: Any,  # noqa: ANN401  # JSON
) -> Document:
    """A resource of a kind, with its ID in the status."""
    group, _, name = kind.partition("/")
    metadata = {"name": "shop", "namespace": NAMESPACE, "annotations": dict(annotations or {})}
    return {
        "apiVersion": f"{group}.azure.com/v1",
        "kind": name,
        "metadata": metadata,
        "status": {"id": at, **status} if at else status,
    }


def planned(document: Document, names: Sequence[str] | None) -> SecretCalls:
    found = SECRET_APIS.plan(
        GroupKind(document["apiVersion"].partition("/")[0], document["kind"]), document, names
    )
    assert found is not None
    return found


def application(cloud: Azure, name: str = "app") -> dict[str, str]:
    """The values of a Secret for an application that may do everything."""
    member = cloud.member(name, secret=SECRET)
    return {"AZURE_TENANT_ID": TENANT, "AZURE_CLIENT_ID": member.client_id, "AZURE_CLIENT_SECRET": SECRET}


def identity(
    data: Mapping[str, str | bytes] | None,
    *,
    namespace: str = NAMESPACE,
    name: str = "aso-credential",
    version: str = "1",
) -> CallIdentity:
    """That of a Secret with these values; None: there is no such Secret."""
    of = ObjectRef("storage.azure.com", "StorageAccount", namespace, "shop")
    if data is None:
        return CallIdentity(resource=of)
    values = {
        key: SecretBytes(value if isinstance(value, bytes) else value.encode()) for key, value in data.items()
    }
    return CallIdentity(
        resource=of, secret=ObjectRef("", "Secret", namespace, name), version=version, data=values
    )


def context(clock: Clock, *namespaces: str) -> SecretApisContext:
    """As the daemon's; `namespaces` may use its own identity."""
    settings = OwnIdentity(azure=OwnIdentityAzure(export_namespaces=namespaces))
    door = door_of(settings, strict=True)
    return SecretApisContext(
        now=clock,
        compute=compute_at_once,
        network=NETWORK,
        ambient=lambda user: partial(door.grant, user),
        new_login=lambda: LoginBackoff(Settings()),
        timeout=60.0,
    )


async def read(
    reader: SecretReader, document: Document, names: Sequence[str] | None, who: CallIdentity
) -> dict[str, str]:
    """The values of these names, by as many calls as were planned."""
    plan = planned(document, names)
    found = dict(plan.known)
    for call in plan.calls:
        found |= {name: value.raw.decode() for name, value in (await reader.read(call, who)).items()}
    return found
