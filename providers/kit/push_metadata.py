"""Reads the metadata of a PushSecret: an envelope, with the provider's own options as its spec."""

from typing import Final, TypeVar, cast

import msgspec

from syncret.config.fields import Json, Model
from syncret.providers.errors import Malformed

API_VERSION: Final = "kubernetes.external-secrets.io/v1alpha1"
KIND: Final = "PushSecretMetadata"

M = TypeVar("M", bound=Model)


def spec_of(metadata: Json, model: type[M]) -> M | None:
    """The spec; None where there is no metadata. Raises Malformed with the place that does not fit.

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
