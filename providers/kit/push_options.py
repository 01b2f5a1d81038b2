"""What all pushes share: the metadata of a PushSecret as options of a provider, the mark of pushed entries.

An entry without the mark is not ours, and is neither changed nor deleted. It is the mark of the External
Secrets Operator, so that either can take over what the other has pushed.
"""

from collections.abc import Mapping
from typing import Final, TypeVar, cast

import msgspec

from syncret.config.fields import Json, Model
from syncret.providers.contract import Writer
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.work import Work

MANAGED_BY: Final = "managed-by"
MANAGER: Final = "external-secrets"
MARK: Final[Mapping[str, str]] = {MANAGED_BY: MANAGER}
"""A tag, a label or metadata of an entry, depending on the manager."""


def is_ours(tags: Mapping[str, str | None] | None) -> bool:
    """Whether the tags of an entry contain the mark."""
    return tags is not None and tags.get(MANAGED_BY) == MANAGER


def not_ours(problem: str, key: str, kind: str) -> Denied:
    """The error for an entry that is not ours; `kind` is the noun for the mark: tag, label."""
    hint = f"push to another remoteKey, or hand {key} over with the {kind} {MANAGED_BY}={MANAGER}"
    return Denied(problem, hint=hint)


def check_tags(tags: Mapping[str, str]) -> None:
    """Raises Malformed if the tags of a PushSecret contain the mark."""
    if MANAGED_BY in tags:
        raise Malformed(
            f"error parsing tags in metadata: Cannot specify a '{MANAGED_BY}' tag",
            hint="leave it out: it is always set, and marks what may be overwritten",
        )


def encoded_source(item: PushItem, work: Work) -> bytes:
    """A whole Secret as the operator writes it to some managers: a JSON object of its values in base64."""
    data: dict[str, Json] = item.source.get("data") or {}
    return gojson.marshal(data, work).encode()


class DelegatedWrites:
    """The methods of a Writer for a client whose writes are made by a part of it, `_writer`."""

    _writer: Writer

    async def push(self, item: PushItem) -> None:
        await self._writer.push(item)

    async def delete(self, target: RemoteTarget) -> None:
        await self._writer.delete(target)

    async def exists(self, target: RemoteTarget) -> bool:
        return await self._writer.exists(target)


API_VERSION: Final = "kubernetes.external-secrets.io/v1alpha1"
KIND: Final = "PushSecretMetadata"

M = TypeVar("M", bound=Model)


def decode_spec(metadata: Json, model: type[M]) -> M | None:
    """The spec; None if there is no metadata. Raises Malformed with the field that does not fit.

    The model forbids unknown fields: `class PushSpec(Model, forbid_unknown_fields=True)`.
    """
    if metadata is None:
        return None
    envelope = cast("dict[str, Json]", metadata) if isinstance(metadata, dict) else {}
    for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND)):
        if envelope.get(field) != wanted:
            raise Malformed(
                f"metadata: unexpected {field}, expected {wanted!r}",
                hint=f"write apiVersion: {API_VERSION} and kind: {KIND}, and the options below spec",
            )
    unknown = sorted(envelope.keys() - {"apiVersion", "kind", "spec"})
    if unknown:
        raise Malformed(f"metadata: unknown field {unknown[0]!r}", hint="write the options below spec")
    try:
        return msgspec.convert(envelope.get("spec") or {}, model)
    except msgspec.ValidationError as error:
        raise Malformed(f"metadata.spec: {error}") from None
