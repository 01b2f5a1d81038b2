"""Takes over the fields and annotations that the former operator wrote. Pure."""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Collection, Iterator, Sequence
from typing import Final

import msgspec

from syncret.config.meta import Document, is_list, member
from syncret.daemon.operator.compare import MANAGER, entries, is_ours

FORMER: Final = "external-secrets-operator"
"""Its field manager in `managedFields`."""

MANAGED_ANNOTATIONS: Final = "externalsecretsconfig.operator.openshift.io/managed-annotations"
"""The annotation of its configuration that lists the keys which it has written to all objects."""

_PLACES: Final = (("metadata",), ("spec", "template", "metadata"))
"""Where an object has annotations; the second is that of a Deployment's Pods."""


def renamed(document: Document) -> Sequence[Document] | None:
    """`managedFields` with the former operator's fields as ours; None if it has none.

    The number of replicas stays its own, as a field that is ours and not applied would be removed.
    """
    former = [each for each in entries(document) if _is_former(each)]
    if not former or any(is_ours(each) for each in entries(document)):
        return None
    result: list[Document] = []
    for each in document["metadata"]["managedFields"]:
        if each is not former[0]:
            result.append(each)
            continue
        fields: Document = msgspec.json.decode(msgspec.json.encode(each["fieldsV1"]))
        replicas = member(fields, "f:spec").pop("f:replicas", None)
        result.append({**each, "manager": MANAGER, "operation": "Apply", "fieldsV1": fields})
        if replicas is not None:
            result.append({**each, "fieldsV1": {"f:spec": {"f:replicas": replicas}}})
    return result


def listed(config: Document) -> Sequence[str]:
    """The keys that its configuration lists; none where there is no list that can be read."""
    text = member(config, "metadata", "annotations").get(MANAGED_ANNOTATIONS, "")
    try:
        keys = msgspec.json.decode(b64decode(text))
    except (NotBase64, ValueError, msgspec.DecodeError):
        return ()
    return [each for each in keys if isinstance(each, str)] if is_list(keys) else ()


def obsolete(wanted: Document, live: Document, keys: Collection[str]) -> Iterator[str]:
    """The annotations of such keys that are not wanted any more, as JSON pointers."""
    for place in _PLACES:
        mine = member(wanted, *place, "annotations")
        for key in sorted(set(keys) & member(live, *place, "annotations").keys() - mine.keys()):
            escaped = key.replace("~", "~0").replace("/", "~1")
            yield f"/{'/'.join(place)}/annotations/{escaped}"


def _is_former(entry: Document) -> bool:
    return entry.get("manager") == FORMER and entry.get("operation") == "Update"
