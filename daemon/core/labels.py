"""Labels and annotations that tie a written object to the ExternalSecret that wrote it."""

from functools import lru_cache
from typing import Final

from syncret.config.meta import Document, OwnerReference
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
