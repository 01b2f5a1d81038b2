"""Rules of the server for kinds: which have a generation and a status subresource, and namespaces.

For Secrets and ConfigMaps, also those beyond admission: folding of stringData, immutability.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from syncret.config.errors import Problem
from syncret.config.meta import Document, ObjectRef, is_object
from syncret.config.resources import kinds as table
from syncret.config.resources.core import check_update, stored_data

NAMESPACE: Final = table.NAMESPACE.group_kind
SECRET: Final = table.SECRET.group_kind

_NAME_LABEL: Final = "kubernetes.io/metadata.name"


def has_status_apart(kind: tuple[str, str]) -> bool:
    """Whether the kind has a status subresource: other writes leave the status unchanged."""
    return kind[0] in table.OUR_GROUPS or kind == NAMESPACE


def has_generation(kind: tuple[str, str]) -> bool:
    """Whether the object counts the changes of its content. Kinds of the core group do not."""
    known = table.kind_of(kind)
    return bool(kind[0]) if known is None else known.has_generation


def namespace_ref(name: str) -> ObjectRef:
    return table.NAMESPACE.ref("", name)


def namespace_document(name: str) -> Document:
    """The manifest of a namespace that is used but was never given."""
    return {
        "apiVersion": table.NAMESPACE.api_version,
        "kind": table.NAMESPACE.kind,
        "metadata": {"name": name},
    }


def complete_namespace(document: Document, phase: str) -> None:
    """Fill in what the server gives every namespace: a label with its name, its own finalizer, its phase."""
    metadata = document["metadata"]
    metadata["labels"] = {**metadata.get("labels", {}), _NAME_LABEL: metadata["name"]}
    document["spec"] = {"finalizers": ["kubernetes"]}
    document["status"] = {"phase": phase}


_VALUES: Final[Mapping[tuple[str, str], tuple[str, ...]]] = {
    SECRET: ("data", "stringData"),
    table.CONFIG_MAP.group_kind: ("data", "binaryData"),
}


def problems_of(document: Document, kind: tuple[str, str]) -> Iterator[Problem]:
    """Values that cannot be stored. Other problems are found by admission."""
    for key in _VALUES.get(kind, ()):
        values = document.get(key)
        if values is None:
            continue
        if not is_object(values):
            yield Problem(path=key, message="must be an object of strings")
        elif not all(isinstance(text, str) for text in values.values()):
            yield Problem(path=key, message="must hold strings only")


def complete(document: Document, kind: tuple[str, str]) -> None:
    """Fold stringData into data and fill in the type of a Secret; drop members that are null or empty."""
    if kind == SECRET:
        document["type"] = document.get("type") or "Opaque"
        document["data"] = stored_data(document)
        document.pop("stringData", None)
    for key in _VALUES.get(kind, ()):
        if key in document and not document[key]:
            del document[key]


def change_problems(document: Document, previous: Document, kind: tuple[str, str]) -> Iterable[Problem]:
    """Changes that the previous version forbids."""
    return check_update(previous, document) if kind in _VALUES else ()
