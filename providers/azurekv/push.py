"""Pushes to a vault: sets secrets, imports keys and certificates, deletes.

Only objects with our tag are changed.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from syncret.config.fields import Model
from syncret.providers.azurekv.api import Api
from syncret.providers.azurekv.material import certificate_file, jwk, same_key
from syncret.providers.azurekv.objects import CERTIFICATE, KEY, Found, Place, place_of
from syncret.providers.contract import Compute
from syncret.providers.errors import Malformed
from syncret.providers.kit import push_options, references
from syncret.providers.kit.push_options import decode_spec
from syncret.providers.pushes import PushItem, RemoteTarget

_LARGEST: Final = 25 * 1024


class PushSpec(Model, forbid_unknown_fields=True):
    """The metadata of a PushSecret for Key Vault. Expiry and content type apply to secrets."""

    expiration_date: str = ""
    content_type: str = ""
    tags: dict[str, str] = {}


class Pusher:
    """Writes to the objects of one Api."""

    def __init__(self, api: Api, compute: Compute) -> None:
        self._api = api
        self._compute = compute

    async def push(self, item: PushItem) -> None:
        """Create a version if the current one differs; otherwise only add missing tags."""
        place = place_of(item.remote_key)
        spec = decode_spec(item.metadata, PushSpec) or PushSpec()
        push_options.check_tags(spec.tags)
        expires = _moment(spec.expiration_date)
        value = item.value.raw
        if place.kind is KEY:
            await self._push_key(place, value, spec)
        elif place.kind is CERTIFICATE:
            await self._push_certificate(place, value, spec)
        else:
            await self._push_secret(place, value, spec, expires)

    async def delete(self, target: RemoteTarget) -> None:
        """Delete the whole object (soft delete); the property is ignored."""
        place = place_of(target.remote_key)
        found = await self._api.get(place)
        if found is not None and found.owned:
            await self._api.delete(place)

    async def exists(self, target: RemoteTarget) -> bool:
        """Whether the object exists; the property is ignored."""
        return await self._api.get(place_of(target.remote_key)) is not None

    async def _push_secret(self, place: Place, value: bytes, spec: PushSpec, expires: int | None) -> None:
        text = _text(place, value)
        found = await self._existing(place)
        content_type = spec.content_type or (found.content_type if found else None)
        if (
            found is not None
            and (found.value.raw, found.dates.expires) == (value, expires)
            and found.content_type == content_type
        ):
            await self._tag(found, spec)
            return
        attributes: dict[str, Any] = {"enabled": True}
        if expires is not None:
            attributes["exp"] = expires
        fields: dict[str, Any] = {"value": text, "attributes": attributes, "tags": _tags(spec)}
        if content_type:
            fields["contentType"] = content_type
        await self._api.set(place, fields)

    async def _push_key(self, place: Place, value: bytes, spec: PushSpec) -> None:
        key = await self._compute(lambda work: jwk(value, work))
        found = await self._existing(place)
        if found is not None and await self._compute(lambda work: same_key(key, found.value.raw, work)):
            await self._tag(found, spec)
            return
        await self._api.set(place, {"key": key, "attributes": {"enabled": True}, "tags": _tags(spec)})

    async def _push_certificate(self, place: Place, value: bytes, spec: PushSpec) -> None:
        file = await self._compute(lambda work: certificate_file(value, work))
        found = await self._existing(place)
        if found is not None and found.value.raw == file.der:
            await self._tag(found, spec)
            return
        await self._api.import_certificate(place, {**file.fields, "tags": _tags(spec)})

    async def _existing(self, place: Place) -> Found | None:
        """The current object. Raises Denied if it is not ours."""
        found = await self._api.get(place)
        if found is not None and not found.owned:
            raise push_options.not_ours(f"{place} is not managed by external-secrets", str(place), "tag")
        return found

    async def _tag(self, found: Found, spec: PushSpec) -> None:
        """Write the tags if some of ours are missing or differ; others may add tags of their own."""
        wanted = {**found.tags, **_tags(spec)}
        if wanted != found.tags:
            await self._api.tag(found, wanted)


def _tags(spec: PushSpec) -> Mapping[str, str]:
    return {**spec.tags, **push_options.MARK}


def _text(place: Place, value: bytes) -> str:
    if len(value) > _LARGEST:
        raise Malformed(
            f"setting {place}: the value is larger than 25 KiB", hint="Key Vault keeps no larger ones"
        )
    return references.as_text(value, "push it in base64")


def _moment(text: str) -> int | None:
    """Seconds since the epoch; None for an empty text."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or "T" not in text:
        raise Malformed(
            "error parsing expiration date in metadata. Expected format: YYYY-MM-DDTHH:MM:SSZ (RFC3339)",
            hint="write it as 2027-12-31T20:00:00Z",
        )
    return int(moment.astimezone(UTC).timestamp())
