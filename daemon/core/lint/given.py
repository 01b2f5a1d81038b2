"""The objects of one validation, as the checks ask for them."""

from base64 import b64decode
from collections.abc import Mapping
from typing import NamedTuple

from syncret.config.catalog import Catalog
from syncret.config.meta import ObjectRef
from syncret.config.resources.base import Resource
from syncret.config.resources.core import ConfigMap, Secret
from syncret.config.resources.kinds import store_ref
from syncret.config.resources.secret_store import SecretStore
from syncret.daemon.core.needs import StoreName


class GivenObject(NamedTuple):
    """One object that admission accepts, and its place: file and line."""

    place: str
    resource: Resource


class Given:
    """All objects of the manifests, by their refs."""

    def __init__(
        self, objects: Mapping[ObjectRef, GivenObject], catalog: Catalog, delims: tuple[str, str]
    ) -> None:
        """`delims` are those of templates of outputs."""
        self.objects = objects
        self.catalog = catalog
        self.delims = delims

    def texts(self, ref: ObjectRef) -> Mapping[str, str] | None:
        """The texts of a Secret or ConfigMap by key; None if it is not given."""
        found = self.objects.get(ref)
        match found and found.resource:
            case ConfigMap(data=data):
                return data
            case Secret(data=data, string_data=texts):
                return {key: b64decode(value).decode(errors="replace") for key, value in data.items()} | texts
            case _:
                return None

    def reads_paths(self, store: StoreName, namespace: str) -> bool:
        """Whether the properties of a store's entries are surely gjson paths."""
        found = self.objects.get(store_ref(*store, namespace))
        match found and found.resource:
            case SecretStore(spec=spec):
                return any(self.catalog.store(name).gjson_properties for name in spec.provider)
            case _:
                return False
