"""Which keys of an object a field manager wrote, according to Kubernetes' managedFields."""

from collections.abc import Sequence

from syncret.config.meta import Document, member
from syncret.daemon.core.digest import text_hash

LONGEST_NAME = 63
PREFIX = "externalsecrets.external-secrets.io/"


def manager_of(name: str) -> str:
    """The field manager of the ExternalSecret of that name; a digest stands in for a long name."""
    plain = PREFIX + name
    return plain if len(plain) <= LONGEST_NAME else f"{PREFIX}sha3/{text_hash(name)}"


def managed_keys(document: Document, manager: str, *path: str) -> frozenset[str]:
    """The keys below `path` (such as `metadata`, `labels`) that `manager` owns."""
    found: set[str] = set()
    entries: Sequence[Document] = member(document, "metadata").get("managedFields") or ()
    for entry in entries:
        if entry.get("manager") != manager:
            continue
        fields = member(entry, "fieldsV1", *(f"f:{step}" for step in path))
        found |= {key.removeprefix("f:") for key in fields if key.startswith("f:")}
    return frozenset(found)
