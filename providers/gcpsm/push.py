"""Pushes to Secret Manager: creates secrets, updates labels and topics, adds versions, deletes.

Only secrets with our label are changed.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

from syncret.config.fields import Model
from syncret.providers.contract import Compute
from syncret.providers.errors import Malformed
from syncret.providers.gcpsm.api import Api, Secret
from syncret.providers.gcpsm.payloads import property_of
from syncret.providers.kit.golang import sjson
from syncret.providers.kit.push_options import MARK, decode_spec, is_ours, not_ours
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.work import Work

_LATEST: Final = "latest"
_LARGEST: Final = 64 * 1024


class PushSpec(Model, forbid_unknown_fields=True):
    """The metadata of a PushSecret for Secret Manager."""

    annotations: dict[str, str] = {}
    labels: dict[str, str] = {}
    topics: tuple[str, ...] = ()
    """Pub/Sub topics for notifications of changes; without any, those of the secret stay."""
    merge_policy: Literal["Replace", "Merge", ""] = ""
    """Merge keeps the labels that the secret has."""
    cmek_key_name: str = ""
    replication_location: str = ""
    """One location; `replication_locations` wins."""
    replication_locations: tuple[str, ...] = ()


class Pusher:
    """Writes to the secrets of one Api."""

    def __init__(self, api: Api, location: str, compute: Compute) -> None:
        self._api = api
        self._location = location
        self._compute = compute

    async def push(self, item: PushItem) -> None:
        """Add a version if the latest differs."""
        if item.property and item.metadata is not None:
            raise Malformed(
                "cannot specify metadata and property at the same time",
                hint="push the whole value with metadata, or the property without",
            )
        spec = decode_spec(item.metadata, PushSpec) or PushSpec()
        name = item.remote_key
        secret = await self._api.get(name)
        if secret is None:
            new = await self._value(
                item, None
            )  # first, so that an invalid value leaves no empty secret behind
            await self._api.create(name, self._create_fields(spec))
            await self._api.add(name, new)
            return
        if not is_ours(secret.labels):
            raise not_ours(f"secret {name} is not managed by external secrets", name, "label")
        found = await self._api.access(name, _LATEST)
        old = None if found is None else found.raw
        new = await self._value(item, old)
        if not item.property:
            await self._update_metadata(secret, spec)
        if new != old:
            await self._api.add(name, new)

    async def delete(self, target: RemoteTarget) -> None:
        """Delete the secret, or a property; with its last property the secret is deleted."""
        secret = await self._api.get(target.remote_key)
        if secret is None or not is_ours(secret.labels):
            return
        if target.property:
            found = await self._api.access(target.remote_key, _LATEST)
            if found is None:
                return
            held = found.raw
            remaining = await self._compute(lambda work: sjson.remove(held, target.property, work))
            if remaining is not None:
                if remaining != held:
                    await self._api.add(target.remote_key, remaining)
                return
        await self._api.delete(secret)

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether there is a version that can be read (and has the property)."""
        if not target.property and await self._api.newest_enabled(target.remote_key) is not None:
            return True
        found = await self._api.access(target.remote_key, _LATEST)
        if found is None or not target.property:
            return found is not None
        held = found.raw
        return await self._compute(lambda work: sjson.has(held, target.property, work))

    async def _value(self, item: PushItem, old: bytes | None) -> bytes:
        """The new value: the item's, or the old one with the item's property set."""
        return await self._compute(lambda work: _value(item, old, work))

    async def _update_metadata(self, secret: Secret, spec: PushSpec) -> None:
        existing = secret.labels or {} if spec.merge_policy == "Merge" else {}
        labels = {**spec.labels, **existing, **MARK}
        wanted: dict[str, Any] = {}
        if labels != (secret.labels or {}):
            wanted["labels"] = labels
        if spec.annotations != (secret.annotations or {}):
            wanted["annotations"] = spec.annotations
        if spec.topics and spec.topics != tuple(topic.name for topic in secret.topics):
            wanted["topics"] = _topics(spec)
        if wanted:
            await self._api.change(secret, wanted)

    def _create_fields(self, spec: PushSpec) -> Mapping[str, Any]:
        fields: dict[str, Any] = {"labels": {**spec.labels, **MARK}}
        if spec.annotations:
            fields["annotations"] = spec.annotations
        if spec.topics:
            fields["topics"] = _topics(spec)
        if not self._location:
            fields["replication"] = _replication(spec)
        elif spec.cmek_key_name:
            fields["customerManagedEncryption"] = {"kmsKeyName": spec.cmek_key_name}
        return fields


def _replication(spec: PushSpec) -> Mapping[str, Any]:
    """The replication of a global secret, and its encryption key; automatic unless locations are given."""
    key = {"customerManagedEncryption": {"kmsKeyName": spec.cmek_key_name}} if spec.cmek_key_name else {}
    places = spec.replication_locations or ((spec.replication_location,) if spec.replication_location else ())
    if not places:
        return {"automatic": key}
    return {"userManaged": {"replicas": [{"location": place, **key} for place in places]}}


def _topics(spec: PushSpec) -> list[dict[str, str]]:
    return [{"name": topic} for topic in spec.topics]


def _value(item: PushItem, old: bytes | None, work: Work) -> bytes:
    if not item.property:
        return _check_size(item.value.raw, item.remote_key)
    if old is not None and property_of(old, item.property, work) == item.value.raw:
        return old
    return _check_size(sjson.put(old or b"", item.property, item.value.raw, work), item.remote_key)


def _check_size(value: bytes, name: str) -> bytes:
    if not value:
        raise Malformed(f"the value for {name} is empty", hint="Secret Manager keeps no empty values")
    if len(value) > _LARGEST:
        raise Malformed(
            f"the value for {name} is larger than 64 KiB", hint="Secret Manager keeps no larger ones"
        )
    return value
