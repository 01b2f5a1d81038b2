"""What the server does with Secrets and ConfigMaps beyond admission: folding of stringData, immutability."""

from collections.abc import Iterable, Iterator
from typing import Final

from syncret.config.errors import Problem
from syncret.config.meta import Document, GroupKind, is_object
from syncret.config.resources.core import check_update, stored_data
from syncret.daemon.backends.memory.kinds import CONFIG_MAP, SECRET

_VALUES: Final = {SECRET: ("data", "stringData"), CONFIG_MAP: ("data", "binaryData")}


def problems_of(document: Document, kind: GroupKind) -> Iterator[Problem]:
    """Values that cannot be stored. What else can be wrong with them is for admission to say."""
    for key in _VALUES.get(kind, ()):
        values = document.get(key)
        if values is None:
            continue
        if not is_object(values):
            yield Problem(path=key, message="must be an object of strings")
        elif not all(isinstance(text, str) for text in values.values()):
            yield Problem(path=key, message="must hold strings only")


def complete(document: Document, kind: GroupKind) -> None:
    """Fold stringData into data and fill in the type of a Secret; drop members that are null or empty."""
    if kind == SECRET:
        document["type"] = document.get("type") or "Opaque"
        document["data"] = stored_data(document)
        document.pop("stringData", None)
    for key in _VALUES.get(kind, ()):
        if key in document and not document[key]:
            del document[key]


def change_problems(document: Document, previous: Document, kind: GroupKind) -> Iterable[Problem]:
    """Changes that the previous version forbids."""
    return check_update(previous, document) if kind in _VALUES else ()
