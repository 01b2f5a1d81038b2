"""What a push makes of the Secret that stands there. Pure."""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final, Literal

from syncret.config.fields import Model
from syncret.config.meta import Document, is_object
from syncret.providers.contract import PushItem
from syncret.providers.errors import Malformed
from syncret.providers.kit.push_metadata import spec_of
from syncret.providers.kubernetes.secret import ANNOTATIONS, LABELS, data_of, texts

_OPAQUE: Final = "Opaque"


class PushOptions(Model, forbid_unknown_fields=True):
    """The spec of a push's metadata."""

    target_merge_policy: Literal["", "Merge", "Replace", "Ignore"] = ""
    """What happens to labels and annotations that stand there: kept beside ours, replaced, left alone."""
    source_merge_policy: Literal["", "Merge", "Replace"] = ""
    """Whether the source Secret's own labels and annotations go along with those written here."""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    remote_namespace: str = ""
    """Another namespace than the store's; only for a ClusterSecretStore."""


def options_of(item: PushItem, *, cluster: bool) -> PushOptions:
    """What the push's metadata says. Raises Malformed."""
    if not item.property and item.secret_key:
        raise Malformed(
            "requires property in RemoteRef to push secret value if secret key is defined",
            hint="write remoteRef.property: under which key of the remote Secret the value is to stand",
        )
    options = spec_of(item.metadata, PushOptions) or PushOptions()
    if options.remote_namespace and not cluster:
        raise Malformed(
            "remoteNamespace override is only supported with ClusterSecretStore",
            hint="remove it, or push through a ClusterSecretStore",
        )
    return options


def pushed(existing: Document | None, item: PushItem, options: PushOptions, name: str) -> Document:
    """The Secret as it shall stand there."""
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
    """Data as the API takes it."""
    return {key: b64encode(value).decode() for key, value in data.items()}


def same(one: Document, other: Document) -> bool:
    """Whether a write would change nothing; an absent map is an empty one."""
    return _compared(one) == _compared(other)


def _merged(there: dict[str, str], ours: dict[str, str], options: PushOptions) -> dict[str, str]:
    match options.target_merge_policy:
        case "Ignore":
            return there
        case "Replace":
            return ours
        case _:
            return {**there, **ours}


def _compared(document: Document) -> tuple[object, ...]:
    metadata = document["metadata"]
    return (
        document.get("type"),
        document.get("data") or {},
        metadata.get(LABELS) or {},
        metadata.get(ANNOTATIONS) or {},
    )
