"""Ownership of a target: references, labels and annotations that claim, respect and release an object."""

from functools import lru_cache
from typing import Final

from syncret.config.meta import Document, Metadata, OwnerReference
from syncret.config.resources.base import GROUP
from syncret.config.resources.kinds import EXTERNAL_SECRET
from syncret.daemon.core.digest import text_hash

MANAGED: Final = "reconcile.external-secrets.io/managed"
CREATED_BY: Final = "reconcile.external-secrets.io/created-by"
DATA_HASH: Final = "reconcile.external-secrets.io/data-hash"
FORCE_SYNC: Final = "external-secrets.io/force-sync"


@lru_cache(maxsize=1024)
def created_by(namespace: str, name: str) -> str:
    """The label value that names the owner in a form that fits a label."""
    return text_hash(f"{namespace}/{name}")


def controller_of(document: Document) -> OwnerReference | None:
    """The one owner reference that controls the object."""
    for reference in document.get("metadata", {}).get("ownerReferences") or ():
        if reference.get("controller"):
            return OwnerReference(
                api_version=reference["apiVersion"],
                kind=reference["kind"],
                name=reference["name"],
                uid=reference["uid"],
                controller=True,
                block_owner_deletion=bool(reference.get("blockOwnerDeletion")),
            )
    return None


class Refusal(Exception):  # a decision, not a fault
    """The target must not be written; `message` is the condition's, `detail` says more in the event."""

    def __init__(self, message: str, detail: str, *, hint: str = "") -> None:
        self.message = message
        self.detail = detail
        self.hint = hint
        super().__init__(f"{message}: {detail}")


def claim(target: Document, owner: Metadata, *, own: bool) -> None:
    """Make the ExternalSecret `owner` the controller of the target, or (`own` false) stop it being that.

    Raises Refusal where another ExternalSecret, or any other controller, holds it.
    """
    metadata = target["metadata"]
    current = controller_of(target)
    ours = (
        current is not None
        and _same_kind(current.api_version, current.kind, EXTERNAL_SECRET.kind)
        and current.name == owner.name
    )
    if current is not None and not ours:
        detail = f"its owner is {current.kind} {current.name}"
        if _same_kind(current.api_version, current.kind, EXTERNAL_SECRET.kind):
            raise Refusal("target is owned by another ExternalSecret", detail)
        if own:
            raise Refusal("failed to take ownership of target secret", detail)
    if own:
        put_controller(metadata, EXTERNAL_SECRET.api_version, EXTERNAL_SECRET.kind, owner)
        metadata.setdefault("labels", {})[CREATED_BY] = created_by(owner.namespace, owner.name)
        return
    if ours:
        metadata["ownerReferences"] = [
            each for each in metadata["ownerReferences"] if not _is(each, EXTERNAL_SECRET.kind, owner.name)
        ]
    metadata.setdefault("labels", {}).pop(CREATED_BY, None)


def put_controller(metadata: Document, api_version: str, kind: str, owner: Metadata) -> None:
    """Make `owner` the controller in the metadata of an object; other owners stay."""
    references: list[Document] = metadata.get("ownerReferences") or []
    own = (place for place, each in enumerate(references) if _is(each, kind, owner.name))
    place = next(own, len(references))  # ours keeps its place: another order would be a change to write
    reference = {
        "apiVersion": api_version,
        "kind": kind,
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    metadata["ownerReferences"] = [*references[:place], reference, *references[place + 1 :]]


def controlled_by(target: Document, uid: str) -> bool:
    """Whether the object of that uid is the controller of the target."""
    current = controller_of(target)
    return current is not None and current.uid == uid


def _same_kind(api_version: str, found: str, kind: str) -> bool:
    return found == kind and api_version.rpartition("/")[0] == GROUP


def _is(reference: Document, kind: str, name: str) -> bool:
    return _same_kind(reference["apiVersion"], reference["kind"], kind) and bool(reference["name"] == name)
