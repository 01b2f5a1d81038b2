"""Puts the exported CRDs on an API server."""

import time
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final, NamedTuple, Self

from syncret.config.meta import Document
from syncret.config.resources.kinds import Kind, Kinds
from syncret.config.schema.crds import crd
from syncret.providers.registry import Registry
from tests.support.servers.kube.running import Answer, KubeApi

CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SERVED_WITHIN: Final = 30.0
DRY_RUN: Final = "?dryRun=All&fieldValidation=Ignore"


@cache
def install(api: KubeApi) -> Mapping[str, Kind]:
    """All kinds that have a CRD, by their names, once they are served."""
    registry = Registry()
    known = Kinds(registry)
    kinds = {
        kind.kind: kind for name in known.names() if (kind := known.find(name)) is not None and kind.group
    }
    install_kinds(api, tuple(kinds.values()))
    return kinds


@cache
def install_kinds(api: KubeApi, kinds: tuple[Kind, ...]) -> None:
    """Wait until the CRDs of these kinds are served."""
    registry = Registry()
    for kind in kinds:
        api.create(CRDS, crd(kind, registry))
    for kind in kinds:
        _until_served(api, collection(kind))


def until(holds: Callable[[], bool], what: str) -> None:
    """Wait for something that follows from a change of a CRD, soon but not at once."""
    end = time.monotonic() + SERVED_WITHIN
    while not holds():
        assert time.monotonic() < end, f"not within {SERVED_WITHIN} s: {what}"
        time.sleep(0.05)


def _until_served(api: KubeApi, path: str) -> None:
    until(lambda: api.request("GET", path).status == 200, f"{path} is served")


def in_group(document: Document, group: str) -> Document:
    """A CRD for another group."""
    spec = document["spec"]
    metadata = {"name": f"{spec['names']['plural']}.{group}"}
    return {**document, "metadata": metadata, "spec": {**spec, "group": group}}


def remove_others(api: KubeApi) -> None:
    """Delete the CRDs of groups that end with `.example`, whose names would stand in the way of ours."""
    for each in api.request("GET", CRDS).body["items"]:
        if each["spec"]["group"].endswith(".example"):
            api.request("DELETE", f"{CRDS}/{each['metadata']['name']}")


class Definition(NamedTuple):
    """A CRD in a group of the test's own, so that several of one name can stand side by side.

    The group should end with `.example`: `remove_others` removes those.
    """

    api: KubeApi
    group: str
    plural: str
    namespaced: bool

    @classmethod
    def put(cls, api: KubeApi, document: Document, group: str) -> Self:
        """Create or replace the CRD, and wait until it is served."""
        spec = document["spec"]
        plural = spec["names"]["plural"]
        moved = in_group(document, group)
        standing = api.get(f"{CRDS}/{plural}.{group}")
        if standing is None:
            api.create(CRDS, moved)
        else:
            moved["metadata"]["resourceVersion"] = standing["metadata"]["resourceVersion"]
            replaced = api.request("PUT", f"{CRDS}/{plural}.{group}", moved)
            assert replaced.status == 200, replaced
        made = cls(api, group, plural, spec["scope"] == "Namespaced")
        for version in spec["versions"]:
            if version["served"]:
                _until_served(api, made.collection(version["name"]))
        return made

    def collection(self, version: str, namespace: str = "default") -> str:
        """The path of its objects."""
        within = f"namespaces/{namespace}/" if self.namespaced else ""
        return f"/apis/{self.group}/{version}/{within}{self.plural}"

    def asked(self, document: Document) -> Answer:
        """What the server would answer to the creation of an object, which is moved to the group, too."""
        version = document["apiVersion"].rpartition("/")[2]
        moved = {**document, "apiVersion": f"{self.group}/{version}"}
        namespace = document["metadata"].get("namespace", "default")
        return self.api.request("POST", f"{self.collection(version, namespace)}{DRY_RUN}", moved)


def install_widgets(api: KubeApi) -> None:
    """A kind of nobody's, such as a generic target may be: `Widget` of example.com/v1, of any content."""
    names = {"kind": "Widget", "plural": "widgets", "singular": "widget", "listKind": "WidgetList"}
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    api.create(
        CRDS,
        {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "widgets.example.com"},
            "spec": spec,
        },
    )
    _until_served(api, "/apis/example.com/v1/widgets")


def collection(kind: Kind, namespace: str = "default") -> str:
    """The path of the objects of a kind."""
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.api_version}"
    return f"{root}/{f'namespaces/{namespace}/' if kind.namespaced else ''}{kind.plural}"
