"""What the server must know about kinds: the few that it treats specially, and which have a status apart."""

from typing import Final

from syncret.config.meta import Document, GroupKind, ObjectRef

NAMESPACE: Final = GroupKind("", "Namespace")
SECRET: Final = GroupKind("", "Secret")
CONFIG_MAP: Final = GroupKind("", "ConfigMap")

_OURS: Final = frozenset({"external-secrets.io", "generators.external-secrets.io", "syncret.dev"})
_NAME_LABEL: Final = "kubernetes.io/metadata.name"


def has_status_apart(kind: GroupKind) -> bool:
    """Whether writing the object leaves its status alone, and `report` is the only way to it."""
    return kind.group in _OURS or kind == NAMESPACE


def has_generation(kind: GroupKind) -> bool:
    """Whether the object counts the changes of its content. Kinds of the core group do not."""
    return kind.group != ""


def namespace_ref(name: str) -> ObjectRef:
    return ObjectRef("", "Namespace", "", name)


def namespace_document(name: str) -> Document:
    """The manifest of a namespace that is used but was never given."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def complete_namespace(document: Document, phase: str) -> None:
    """Fill in what the server gives every namespace: a label with its name, its own finalizer, its phase."""
    metadata = document["metadata"]
    metadata["labels"] = {**metadata.get("labels", {}), _NAME_LABEL: metadata["name"]}
    document["spec"] = {"finalizers": ["kubernetes"]}
    document["status"] = {"phase": phase}
