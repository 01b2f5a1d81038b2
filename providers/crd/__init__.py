"""Any resource of a Kubernetes API server but its Secrets."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.crd.client import CrdClient, Whitelist, check_access, served_resource
from syncret.providers.crd.spec import CrdSpec, check


@asynccontextmanager
async def open_crd(spec: CrdSpec, context: OpenContext) -> AsyncGenerator[CrdClient, None]:
    """Open a client, after checking that the server has the resource and lets us read it."""
    from syncret.providers.kit.kube.access import open_kube  # imports asyncio and TLS

    async with open_kube(spec.server, spec.auth, spec.auth_ref, context) as kube:
        resource, scope = spec.resource, context.scope
        served = await served_resource(kube, resource.group, resource.version, resource.kind)
        namespace = scope.namespace if served.namespaced and not scope.cluster else ""
        await check_access(kube, served, "get", namespace)
        rules = spec.whitelist.rules
        allowed = await context.compute(lambda work: Whitelist(rules, work, cluster=scope.cluster))
        yield CrdClient(kube, served, allowed, scope, context.compute)


PROVIDER: Final = Provider(SpecType("crd", CrdSpec, check=check, gjson_properties=True), open=open_crd)
