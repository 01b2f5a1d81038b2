"""Values of AWS's services, and what is asked of a client."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from syncret.providers.aws import AwsClient
from syncret.providers.contract import Finder
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import PushItem
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes, SecretMap
from syncret.providers.work import Work
from tests.support.servers.aws import Gateway

Open = Callable[..., AbstractAsyncContextManager[AwsClient]]


async def secrets(gate: Gateway, *names: str, **more: object) -> None:
    for name in names:
        await gate.behind("secretsmanager", "CreateSecret", **{"Name": name, "SecretString": name} | more)


def keys(*names: str) -> list[RemoteKey]:
    return [RemoteKey(name) for name in names]


async def found_by(client: AwsClient, query: FindQuery) -> SecretMap:
    assert isinstance(client, Finder)
    return await client.find(query, unpaced, Work())


def push(name: str, value: bytes, **spec: object) -> PushItem:
    envelope = {"apiVersion": "kubernetes.external-secrets.io/v1alpha1", "kind": "PushSecretMetadata"}
    return PushItem(
        name,
        "",
        SecretBytes(value),
        metadata={**envelope, "spec": spec} if spec else None,
        secret_key="k",
        source={"metadata": {"namespace": "default"}},
    )
