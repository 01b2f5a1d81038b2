"""The values of a Secret, and the Secret after a push. Pure."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from syncret.config.fields import Json, Model
from syncret.config.meta import Document, is_object
from syncret.config.spelling import keys_hint
from syncret.providers.errors import Malformed
from syncret.providers.kit import extract
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.push_options import decode_spec
from syncret.providers.pushes import PushItem
from syncret.providers.values import RemoteRef, SecretBytes
from syncret.providers.work import Work

LABELS: Final = "labels"
ANNOTATIONS: Final = "annotations"


@dataclass(frozen=True, slots=True)
class Secret:
    """Data, labels and annotations."""

    data: Mapping[str, bytes] = field(repr=False)
    labels: Mapping[str, str]
    annotations: Mapping[str, str] = field(repr=False)


def secret_of(document: Document) -> Secret:
    """The parts that a reference can address."""
    metadata = document.get("metadata")
    metadata = metadata if is_object(metadata) else {}
    return Secret(data_of(document), texts(metadata.get(LABELS)), texts(metadata.get(ANNOTATIONS)))


def data_of(document: Document) -> dict[str, bytes]:
    """The data, decoded. Raises Malformed for invalid base64, which no API server stores."""
    try:
        return {key: b64decode(text, validate=True) for key, text in texts(document.get("data")).items()}
    except ValueError:
        pass
    raise Malformed(
        "the Secret's data is not base64", hint="does the URL lead to an API server? none stores such data"
    )


def texts(found: Json) -> dict[str, str]:
    """A map of strings; empty if there is none."""
    return {key: str(value) for key, value in found.items()} if is_object(found) else {}


def whole(data: Mapping[str, bytes], work: Work) -> bytes:
    """All keys as one JSON object of strings."""
    return _json({key: gojson.text(value) for key, value in data.items()}, work)


def value(secret: Secret, ref: RemoteRef, work: Work) -> bytes:
    """The value of a reference. Raises Malformed if there is no such property."""
    if not ref.property:
        if ref.metadata:
            return _json({LABELS: _or_null(secret.labels), ANNOTATIONS: _or_null(secret.annotations)}, work)
        return whole(secret.data, work)
    found = (_of_metadata if ref.metadata else _of_data)(secret, ref.property, work)
    if found is None:
        part = "metadata" if ref.metadata else "data"
        raise Malformed(
            f'property {ref.property} does not exist in {part} of secret "{ref.key}"',
            hint="" if ref.metadata else keys_hint(ref.property, secret.data),
        )
    return found


def fields(secret: Secret, ref: RemoteRef, work: Work) -> dict[str, SecretBytes]:
    """The data (or labels and annotations) by key; for a property, the members of its JSON, unchanged."""
    data: Mapping[str, bytes] = secret.data
    if ref.metadata:
        labels, annotations = _or_null(secret.labels), _or_null(secret.annotations)
        data = {LABELS: _json(labels, work), ANNOTATIONS: _json(annotations, work)}
    if not ref.property:
        return {key: SecretBytes(each) for key, each in data.items()}
    work.make(2 * sum(map(len, data.values())))
    document = gojson.marshal({key: b64encode(each).decode() for key, each in data.items()}, work).encode()
    found = extract.value(document, extract.escaped(ref.property), work)
    if found is None:
        found = extract.value(document, ref.property, work)
    if found is None:
        raise extract.missing_property(f"property {ref.property} does not exist in key {ref.key}")
    return {key: SecretBytes(each) for key, each in _members(found, work).items()}


def _members(encoded: bytes, work: Work) -> dict[str, bytes]:
    """Members of a JSON object. As in the operator, strings keep their quotes here."""
    try:
        parsed = gojson.unmarshal_object(b64decode(encoded, validate=True), work)
    except (ValueError, Malformed):
        parsed = None
    if parsed is None:
        raise Malformed("failed to unmarshal secret: invalid JSON format", hint="extract needs a JSON object")
    return {key: _json(member, work) for key, member in parsed.items()}


def _of_data(secret: Secret, name: str, work: Work) -> bytes | None:
    if name in secret.data:
        return secret.data[name]
    key, dot, path = name.partition(".")
    if not (key and dot and path) or key not in secret.data:
        return None
    return extract.value(secret.data[key], path, work)


def _of_metadata(secret: Secret, name: str, work: Work) -> bytes | None:
    kind, *path = name.split(".")
    kinds: Mapping[str, Mapping[str, str]] = {LABELS: secret.labels, ANNOTATIONS: secret.annotations}
    if kind not in kinds:
        return None
    found = kinds[kind]
    if not path:
        return _json(_or_null(found), work)
    whole_name = ".".join(path)
    if whole_name in found:  # `app.kubernetes.io/name`, which the operator cannot address
        return found[whole_name].encode()
    if path[0] not in found:
        return None
    return extract.value(found[path[0]].encode(), "".join(path[1:]), work)


def _or_null(found: Mapping[str, str]) -> Mapping[str, str] | None:
    """Go writes an absent map as null."""
    return found or None


def _json(found: Json, work: Work) -> bytes:
    return gojson.marshal(found, work, escape_html=False).encode("utf-8", "surrogateescape")


_OPAQUE: Final = "Opaque"


class PushOptions(Model, forbid_unknown_fields=True):
    """The spec of a push's metadata."""

    target_merge_policy: Literal["", "Merge", "Replace", "Ignore"] = ""
    """How existing labels and annotations are treated: merged with ours, replaced, or left unchanged."""
    source_merge_policy: Literal["", "Merge", "Replace"] = ""
    """How the source Secret's labels and annotations are treated: merged with those here, or replaced."""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    remote_namespace: str = ""
    """A namespace other than the store's; only for a ClusterSecretStore."""


def options_of(item: PushItem, *, cluster: bool) -> PushOptions:
    """The options of a push. Raises Malformed."""
    if not item.property and item.secret_key:
        raise Malformed(
            "requires property in RemoteRef to push secret value if secret key is defined",
            hint="write remoteRef.property: under which key of the remote Secret the value is to stand",
        )
    options = decode_spec(item.metadata, PushOptions) or PushOptions()
    if options.remote_namespace and not cluster:
        raise Malformed(
            "remoteNamespace override is only supported with ClusterSecretStore",
            hint="remove it, or push through a ClusterSecretStore",
        )
    return options


def secret_after_push(existing: Document | None, item: PushItem, options: PushOptions, name: str) -> Document:
    """The Secret to write."""
    before: dict[str, Any] = existing or {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}}
    metadata = dict(before["metadata"])
    source = item.source.get("metadata")
    source = source if is_object(source) else {}
    for kind, written in ((LABELS, options.labels), (ANNOTATIONS, options.annotations)):
        own = {} if options.source_merge_policy == "Replace" else texts(source.get(kind))
        metadata[kind] = _merged(texts(metadata.get(kind)), {**own, **written}, options)
    data = data_of(before)
    if item.property:
        data[item.property] = item.value.raw
    else:
        data = data_of(item.source)
    return {
        **before,
        "metadata": metadata,
        "type": str(item.source.get("type") or _OPAQUE),
        "data": encoded(data),
    }


def encoded(data: Mapping[str, bytes]) -> dict[str, str]:
    """Data in base64, for the API."""
    return {key: b64encode(value).decode() for key, value in data.items()}


def has_same_content(one: Document, other: Document) -> bool:
    """Whether a write would change nothing; an absent map is an empty one."""
    return _compared(one) == _compared(other)


def _merged(existing: dict[str, str], ours: dict[str, str], options: PushOptions) -> dict[str, str]:
    match options.target_merge_policy:
        case "Ignore":
            return existing
        case "Replace":
            return ours
        case _:
            return {**existing, **ours}


def _compared(document: Document) -> tuple[object, ...]:
    metadata = document["metadata"]
    return (
        document.get("type"),
        document.get("data") or {},
        metadata.get(LABELS) or {},
        metadata.get(ANNOTATIONS) or {},
    )
