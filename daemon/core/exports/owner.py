"""The resource whose exports are carried out, as its outputs name it."""

from typing import Final, NamedTuple

from syncret.config.meta import Document, ObjectRef, is_object, member
from syncret.daemon.core.digest import text_hash

EXPORTED_BY: Final = "exports.syncret.dev/resource"
"""The label of an output, with a hash of the resource's name."""

_MANAGER: Final = "exports.syncret.dev/"


class Owner(NamedTuple):
    """The identity of a resource that owns objects."""

    ref: ObjectRef
    api_version: str
    uid: str

    @property
    def label(self) -> str:
        """The value of the label on its outputs."""
        return label_of(self.ref)

    @property
    def manager(self) -> str:
        """The field manager of its writes: which keys of an object are its own."""
        return f"{_MANAGER}{label_of(self.ref)}"

    def owns(self, found: Document) -> bool:
        """Whether an object names the resource, and not an earlier one of its name, as an owner."""
        references = member(found, "metadata").get("ownerReferences") or ()
        return any(is_object(each) and each.get("uid") == self.uid for each in references)

    def reference(self) -> Document:
        """The owner reference, by which a cluster deletes an object once the resource is gone."""
        return {
            "apiVersion": self.api_version,
            "kind": self.ref.kind,
            "name": self.ref.name,
            "uid": self.uid,
        }


def label_of(ref: ObjectRef) -> str:
    """A resource's whole name, in a form that fits a label."""
    return text_hash("/".join(ref))
