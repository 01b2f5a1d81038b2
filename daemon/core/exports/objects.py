"""Decides what to write for the exports of a resource, from its outputs as they are now.

An object that only the resource exports to has the data that its expressions give, and no other. One that the
resource's own operator writes too keeps what is not ours. An object that the resource does not own is never
touched.
"""

from base64 import b64encode
from copy import deepcopy
from typing import Final

from syncret.config.meta import Document, ObjectRef, member
from syncret.daemon.core.exports.outputs import Made
from syncret.daemon.core.exports.owner import EXPORTED_BY, Owner
from syncret.daemon.core.ownership import MANAGED, Refusal
from syncret.daemon.core.plan.actions import DELETED, Action, Event, Verb
from syncret.daemon.core.secret import managed_keys

EXPORTED: Final = "Exported"
"""The reason of the event for a write."""

_MARKS: Final = ("labels", "annotations")


def output_ref(owner: Owner, made: Made) -> ObjectRef:
    """The object that is to be written: always in the resource's own namespace."""
    return ObjectRef("", made.output.kind, owner.ref.namespace, made.output.name)


def write(owner: Owner, made: Made, found: Document | None, *, is_shared: bool) -> Action | None:
    """The write that brings the object in line; None if it is. Raises Refusal if it is not the resource's.

    `is_shared`: the resource's own operator writes it, too.
    """
    ref = output_ref(owner, made)
    if found is not None and not owner.owns(found):
        raise Refusal(
            f"the {ref.kind} {ref.name} is not this resource's",
            "it has no owner reference to it",
            hint="give the export another name, or delete the object",
        )
    desired = _desired(owner, made, found, is_shared=is_shared)
    if found is None:
        return _action(owner, Verb.CREATE, ref, desired, None, Event(EXPORTED, f"created {_named(ref)}"))
    if desired == found:
        return None
    return _action(owner, Verb.UPDATE, ref, desired, found, Event(EXPORTED, f"updated {_named(ref)}"))


def prune(owner: Owner, ref: ObjectRef, found: Document) -> Action | None:
    """The write that removes the resource's exports from an object that it does not export to any more.

    None if the object is not the resource's. The object is deleted if nothing else is in it.
    """
    if not owner.owns(found) or member(found, "metadata", "labels").get(EXPORTED_BY) != owner.label:
        return None
    left = deepcopy(found)
    _drop_ours(owner, left)
    if not left.get("data") and not left.get("binaryData"):
        return _action(owner, Verb.DELETE, ref, None, found, Event(DELETED, f"deleted {_named(ref)}"))
    return _action(
        owner, Verb.UPDATE, ref, _without_empty(left), found, Event(EXPORTED, f"updated {_named(ref)}")
    )


def _desired(owner: Owner, made: Made, found: Document | None, *, is_shared: bool) -> Document:
    document = _blank(owner, made) if found is None else deepcopy(found)
    if found is not None:
        _drop_ours(owner, document)
    data: Document = member(document, "data") if is_shared else {}
    encoded = made.data
    if made.output.kind == "Secret":
        encoded = {key: b64encode(value.encode()).decode() for key, value in made.data.items()}
    document["data"] = {**data, **encoded}
    if not is_shared:
        document.pop("binaryData", None)
    metadata = document["metadata"]
    marks = (made.labels | {EXPORTED_BY: owner.label, MANAGED: "true"}, made.annotations)
    for field, values in zip(_MARKS, marks, strict=True):
        metadata[field] = {**member(document, "metadata", field), **values}
    return _without_empty(document)


def _blank(owner: Owner, made: Made) -> Document:
    metadata: Document = {
        "name": made.output.name,
        "namespace": owner.ref.namespace,
        "ownerReferences": [owner.reference()],
    }
    document: Document = {"apiVersion": "v1", "kind": made.output.kind, "metadata": metadata}
    return document | {"type": "Opaque"} if made.output.kind == "Secret" else document


def _drop_ours(owner: Owner, document: Document) -> None:
    """Take out the keys, labels and annotations that were written for this resource."""
    _drop(member(document, "data"), managed_keys(document, owner.manager, "data"))
    for field in _MARKS:
        ours = managed_keys(document, owner.manager, "metadata", field)
        _drop(member(document, "metadata", field), ours)


def _drop(values: Document, keys: frozenset[str]) -> None:
    for key in keys:
        values.pop(key, None)


def _without_empty(document: Document) -> Document:
    """Without empty fields, as an API server has it: otherwise the object would differ at every look."""
    for field in _MARKS:
        if not document["metadata"].get(field):
            document["metadata"].pop(field, None)
    if not document.get("data"):
        document.pop("data", None)
    return document


def _action(  # an Action's own fields
    owner: Owner, verb: Verb, ref: ObjectRef, document: Document | None, before: Document | None, event: Event
) -> Action:
    return Action(
        verb=verb, ref=ref, document=document, before=before, field_manager=owner.manager, event=event
    )


def _named(ref: ObjectRef) -> str:
    return f"{ref.kind} {ref.name}"
