"""The Secret that an ExternalSecret wants, from the one that is there and the data that was fetched."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from copy import deepcopy

from syncret.config.meta import Document, member
from syncret.config.resources.external_secret import ExternalSecret
from syncret.daemon.core.digest import data_hash, text_hash
from syncret.daemon.core.labels import DATA_HASH, MANAGED
from syncret.daemon.core.managed import managed_keys, manager_of
from syncret.daemon.core.ownership import claim

KEEPS_FOREIGN_KEYS = ("Merge", "CreateOrMerge")


def target_name(resource: ExternalSecret) -> str:
    """The name of what is written: the target's, or the ExternalSecret's own."""
    return resource.spec.target.name or resource.metadata.name


def field_manager(resource: ExternalSecret) -> str:
    """Under which name the writes of this ExternalSecret are booked."""
    name = resource.metadata.name
    return manager_of(name, digest=text_hash(name))


def secret_data(secret: Document) -> dict[str, bytes]:
    """The values of a Secret."""
    return {key: b64decode(value) for key, value in member(secret, "data").items()}


def is_valid(resource: ExternalSecret, secret: Document | None) -> bool:
    """Whether the Secret still is what was written last: there, marked as managed, its data unchanged."""
    if resource.spec.target.creation_policy == "Orphan":
        return True
    if secret is None:
        return False
    if member(secret, "metadata", "labels").get(MANAGED) != "true":
        return False
    return member(secret, "metadata", "annotations").get(DATA_HASH) == data_hash(secret_data(secret))


def desired_secret(
    resource: ExternalSecret, observed: Document | None, data: Mapping[str, bytes]
) -> Document:
    """The whole Secret to write. Raises Refusal where it must not be written; `observed` is not changed."""
    secret = deepcopy(observed) if observed is not None else _blank(resource)
    values = secret_data(secret)
    if resource.spec.target.immutable:
        secret["immutable"] = True
    if observed is None or not resource.spec.target.immutable:
        _drop_managed(resource, secret, values)
        _put_metadata(resource, secret)
        if resource.spec.target.creation_policy not in KEEPS_FOREIGN_KEYS:
            values.clear()
        values.update(data)
    claim(
        secret, resource.metadata, kind="ExternalSecret", own=resource.spec.target.creation_policy == "Owner"
    )
    metadata = secret["metadata"]
    metadata.setdefault("labels", {})[MANAGED] = "true"
    metadata.setdefault("annotations", {})[DATA_HASH] = data_hash(values)
    secret["data"] = {key: b64encode(values[key]).decode() for key in sorted(values)}
    return _without_empty(secret)


def within_immutable(observed: Document, desired: Document) -> tuple[Document, bool]:
    """What may be written to an immutable Secret: its metadata; and whether that is all that is wanted."""
    fixed: Document = {field: observed[field] for field in ("data", "type", "immutable") if field in observed}
    whole = all(observed.get(field) == desired.get(field) for field in ("data", "type", "immutable"))
    return {**desired, **fixed}, whole


def _blank(resource: ExternalSecret) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": target_name(resource), "namespace": resource.metadata.namespace},
        "type": "Opaque",
    }


def _drop_managed(resource: ExternalSecret, secret: Document, values: dict[str, bytes]) -> None:
    """Take back what this ExternalSecret wrote before, so that nothing it no longer wants is left behind."""
    manager = field_manager(resource)
    for key in managed_keys(secret, manager, "data"):
        values.pop(key, None)
    for field in ("labels", "annotations"):
        entries = member(secret, "metadata", field)
        for key in managed_keys(secret, manager, "metadata", field):
            entries.pop(key, None)


def _put_metadata(resource: ExternalSecret, secret: Document) -> None:
    metadata = secret["metadata"]
    metadata["labels"] = {**member(secret, "metadata", "labels"), **resource.metadata.labels}
    metadata["annotations"] = {
        **member(secret, "metadata", "annotations"),
        **resource.metadata.annotations,
    }


def _without_empty(secret: Document) -> Document:
    metadata = secret["metadata"]
    for field in ("labels", "annotations", "ownerReferences"):
        if field in metadata and not metadata[field]:
            del metadata[field]
    return secret
