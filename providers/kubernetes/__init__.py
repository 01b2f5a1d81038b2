"""Secrets of another Kubernetes cluster or namespace."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.api_names import ApiNames
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.kubernetes.client import KubernetesClient
from syncret.providers.kubernetes.spec import KubernetesSpec, check


@asynccontextmanager
async def open_kubernetes(
    spec: KubernetesSpec, context: OpenContext
) -> AsyncGenerator[KubernetesClient, None]:
    """Open a client, after reading the credentials."""
    from syncret.providers.kit.kube.access import open_kube  # imports asyncio and TLS

    async with open_kube(spec.server, spec.auth, spec.auth_ref, context) as kube:
        yield KubernetesClient(kube, spec.remote_namespace, context.scope)


_API: Final = ApiNames(
    "Kubernetes",
    read="GetSecret",
    find="ListSecrets",
    push="UpdateSecret",
    delete="DeleteSecret",
    probe="CreateSelfSubjectRulesReview",
)

PROVIDER: Final = Provider(
    SpecType("kubernetes", KubernetesSpec, check=check, gjson_properties=True),
    open=open_kubernetes,
    api_names=lambda _: _API,
)
