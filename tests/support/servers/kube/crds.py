"""Puts the exported CRDs on an API server."""

import time
from collections.abc import Mapping
from functools import cache
from typing import Final

from syncret.config.resources.kinds import Kind, Kinds
from syncret.config.schema.crds import crd
from syncret.providers.registry import Registry
from tests.support.servers.kube.running import KubeApi

CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SERVED_WITHIN: Final = 30.0


@cache
def install(api: KubeApi) -> Mapping[str, Kind]:
    """All kinds that have a CRD, by their names, once they are served."""
    registry = Registry()
    known = Kinds(registry)
    kinds = {
        kind.kind: kind for name in known.names() if (kind := known.find(name)) is not None and kind.group
    }
    for kind in kinds.values():
        api.create(CRDS, crd(kind, registry))
    end = time.monotonic() + SERVED_WITHIN
    for kind in kinds.values():
        while api.request("GET", collection(kind)).status != 200:
            assert time.monotonic() < end, f"{kind.plural} are not served"
            time.sleep(0.1)
    return kinds


def collection(kind: Kind, namespace: str = "default") -> str:
    """The path of the objects of a kind."""
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.api_version}"
    return f"{root}/{f'namespaces/{namespace}/' if kind.namespaced else ''}{kind.plural}"
