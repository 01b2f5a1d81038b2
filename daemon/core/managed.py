"""Which keys of an object a manager wrote, as Kubernetes' managedFields tell it."""

from syncret.config.meta import Document

LONGEST_NAME = 63
PREFIX = "externalsecrets.external-secrets.io/"


def manager_of(name: str, *, digest: str) -> str:
    """The field manager's name for the ExternalSecret of that name; `digest` stands in for one that is too long."""
    plain = PREFIX + name
    return plain if len(plain) <= LONGEST_NAME else f"{PREFIX}sha3/{digest}"


def managed_keys(document: Document, manager: str, *path: str) -> frozenset[str]:
    """The keys below `path` (such as `metadata`, `labels`) that `manager` owns."""
    found: set[str] = set()
    for entry in document.get("metadata", {}).get("managedFields") or ():
        if entry.get("manager") != manager:
            continue
        fields = entry.get("fieldsV1") or {}
        for step in path:
            fields = fields.get(f"f:{step}") or {}
        found |= {key.removeprefix("f:") for key in fields if key.startswith("f:")}
    return frozenset(found)
