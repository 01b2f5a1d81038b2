"""Builds the Secret of an ExternalSecret from the existing Secret, the fetched data and the template."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document, member
from syncret.config.resources.external_secret import ExternalSecret
from syncret.config.resources.templates import Template
from syncret.daemon.core import conversion
from syncret.daemon.core.conditions import seconds
from syncret.daemon.core.digest import data_hash, text_hash
from syncret.daemon.core.ownership import DATA_HASH, MANAGED, claim
from syncret.daemon.core.rendering import Rendering
from syncret.providers.errors import Malformed, OverBudget
from syncret.providers.work import Work

LONGEST_NAME = 63
PREFIX = "externalsecrets.external-secrets.io/"
KEEPS_FOREIGN_KEYS = ("Merge", "CreateOrMerge")

_FEW_KEYS: Final = 1000
_KEY_COST: Final = 200
_COPIES: Final = 3


def target_name(resource: ExternalSecret) -> str:
    """The name of the output: that of the target, or else of the ExternalSecret."""
    return resource.spec.target.name or resource.metadata.name


def field_manager(resource: ExternalSecret) -> str:
    """The field manager with which this ExternalSecret writes."""
    return manager_of(resource.metadata.name)


def manager_of(name: str) -> str:
    """The field manager for an ExternalSecret's name; a long name is replaced by its digest."""
    plain = PREFIX + name
    return plain if len(plain) <= LONGEST_NAME else f"{PREFIX}sha3/{text_hash(name)}"


def managed_keys(document: Document, manager: str, *path: str) -> frozenset[str]:
    """The keys below `path` (such as `metadata`, `labels`) that `manager` owns, by `managedFields`."""
    found: set[str] = set()
    entries: Sequence[Document] = member(document, "metadata").get("managedFields") or ()
    for entry in entries:
        if entry.get("manager") != manager:
            continue
        fields = member(entry, "fieldsV1", *(f"f:{step}" for step in path))
        found |= {key.removeprefix("f:") for key in fields if key.startswith("f:")}
    return frozenset(found)


def secret_data(secret: Document) -> dict[str, bytes]:
    """The decoded values of a Secret."""
    return {key: b64decode(value) for key, value in member(secret, "data").items()}


def is_valid(resource: ExternalSecret, secret: Document | None) -> bool:
    """Whether the Secret is still as it was written: it exists, is labelled as managed, has the same data."""
    if resource.spec.target.creation_policy == "Orphan":
        return True
    if secret is None:
        return False
    return is_intact(secret, secret_data(secret))


def is_intact(secret: Document, values: Mapping[str, bytes]) -> bool:
    """Whether a Secret is labelled as managed, and its data hash is that of these values."""
    if member(secret, "metadata", "labels").get(MANAGED) != "true":
        return False
    return member(secret, "metadata", "annotations").get(DATA_HASH) == data_hash(values)


def is_written_by(resource: ExternalSecret, secret: Document) -> bool:
    """Whether this ExternalSecret, and not an earlier one of its name, wrote data of this intact Secret.

    A field manager is only a name, so the write has to be later than the ExternalSecret: by its time, which
    counts whole seconds, and by the version of the Secret.
    """
    manager = field_manager(resource)
    created = seconds(resource.metadata.creation_timestamp)
    if created is None or not managed_keys(secret, manager, "data"):
        return False
    times = [
        seconds(entry.get("time") or "")
        for entry in member(secret, "metadata").get("managedFields") or ()
        if entry.get("manager") == manager
    ]
    if not any(time is not None and time >= created for time in times):
        return False
    version, own = str(member(secret, "metadata").get("resourceVersion")), resource.metadata.resource_version
    return (len(version), version) > (len(own), own) and is_intact(secret, secret_data(secret))


def pay_for_keys(values: Mapping[str, bytes], work: Work, place: str) -> None:
    """Pay for what is done later with many keys, each of which becomes a file, and with their values.

    `place` is the field path of what they are for.
    """
    many = max(len(values) - _FEW_KEYS, 0)
    try:
        work.take(_KEY_COST * many, _COPIES * sum(map(len, values.values())))
    except OverBudget as error:
        raise error.at(place) from None


class SecretSink:
    """Puts rendered values into a Secret: only into its data, labels and annotations."""

    def __init__(self, secret: Document, values: dict[str, bytes]) -> None:
        self._metadata = secret["metadata"]
        self._values = values

    def put(self, target: str, key: str, value: bytes) -> None:
        """One rendered value."""
        if target == "data":
            self._values[key] = value
        elif target in ("labels", "annotations"):
            self._metadata.setdefault(target, {})[key] = conversion.as_text(value)
        else:
            raise _not_in_secrets(target)

    def put_at(self, path: str, make: Callable[[Json], Json]) -> None:
        """Always refused: a path could change the type, the owners or the immutability of the Secret."""
        del make
        raise _not_in_secrets(path)


def _not_in_secrets(target: str) -> Malformed:
    return Malformed(
        f'templateFrom target="{target}" is not allowed when targeting a Secret',
        hint="use Data, Labels or Annotations",
    )


def desired_secret(
    resource: ExternalSecret,
    observed: Document | None,
    data: Mapping[str, bytes],
    rendering: Rendering | None = None,
) -> Document:
    """The complete Secret to write; `observed` is not changed. A template requires `rendering`.

    Raises Refusal if the Secret must not be written, Malformed if a template does not render.
    """
    secret = deepcopy(observed) if observed is not None else _blank(resource)
    values = secret_data(secret)
    if resource.spec.target.immutable:
        secret["immutable"] = True
    if observed is None or not resource.spec.target.immutable:
        if observed is not None:
            _drop_managed(resource, secret, values)
        if resource.spec.target.creation_policy not in KEEPS_FOREIGN_KEYS:
            values.clear()
        if resource.spec.target.template is None:
            _put_metadata(resource, secret)
            values.update(data)
        elif rendering is not None:
            _put_template(resource.spec.target.template, secret, values, data, rendering)
    claim(secret, resource.metadata, own=resource.spec.target.creation_policy == "Owner")
    metadata = secret["metadata"]
    metadata.setdefault("labels", {})[MANAGED] = "true"
    metadata.setdefault("annotations", {})[DATA_HASH] = data_hash(values)
    secret["data"] = {key: b64encode(values[key]).decode() for key in sorted(values)}
    return _without_empty(secret)


def within_immutable(observed: Document, desired: Document) -> tuple[Document, bool]:
    """The change that can be written to an immutable Secret (its metadata), and whether that is all of it."""
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
    """Remove the keys that this ExternalSecret wrote before; those still desired are added again."""
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


def _put_template(
    template: Template,
    secret: Document,
    values: dict[str, bytes],
    data: Mapping[str, bytes],
    rendering: Rendering,
) -> None:
    """Render the template; the data itself is included only with mergePolicy Merge, or without templates."""
    if template.type:
        secret["type"] = template.type
    if template.merge_policy == "Merge" or not (template.data or template.template_from):
        values.update(data)
    rendering.apply(template, SecretSink(secret, values), data)
    metadata = secret["metadata"]
    if template.metadata.finalizers and not metadata.get("deletionTimestamp"):
        metadata["finalizers"] = list(
            dict.fromkeys([*metadata.get("finalizers", ()), *template.metadata.finalizers])
        )


def _without_empty(secret: Document) -> Document:
    """Drop empty fields, as an API server does: otherwise the Secret would differ at every comparison."""
    metadata = secret["metadata"]
    if not secret["data"]:
        del secret["data"]
    for field in ("labels", "annotations", "ownerReferences"):
        if field in metadata and not metadata[field]:
            del metadata[field]
    return secret
