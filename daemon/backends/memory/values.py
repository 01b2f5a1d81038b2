"""What the server does with Secrets and ConfigMaps: folding of stringData, types, immutability."""

from base64 import b64encode
from collections.abc import Iterator
from typing import Final

from syncret.config.errors import Problem
from syncret.config.meta import Document, GroupKind
from syncret.daemon.backends.memory.kinds import CONFIG_MAP, SECRET
from syncret.daemon.backends.memory.patch import is_object

_IMMUTABLE: Final = "Forbidden: field is immutable when `immutable` is set"
_REMEDY: Final = "delete the object and create it anew"
_VALUES: Final = {SECRET: ("data",), CONFIG_MAP: ("data", "binaryData")}


def complete(document: Document, kind: GroupKind) -> None:
    """Fold stringData into data and fill in the type of a Secret; drop members that are null or empty."""
    if kind not in _VALUES:
        return
    for key in ("stringData", *_VALUES[kind]):
        if key in document and not document[key]:
            del document[key]
    if kind == SECRET:
        document["type"] = document.get("type") or "Opaque"
        if texts := document.pop("stringData", None):
            folded = {key: b64encode(text.encode()).decode() for key, text in texts.items()}
            document["data"] = {**document.get("data", {}), **folded}


def problems_of(document: Document, kind: GroupKind) -> Iterator[Problem]:
    """Values that cannot be folded. What else can be wrong with them is for admission to say."""
    for key in ("stringData", *_VALUES.get(kind, ())) if kind in _VALUES else ():
        values = document.get(key)
        if values is None:
            continue
        if not is_object(values):
            yield Problem(path=key, message="Invalid value: must be an object of strings")
        elif any(not isinstance(text, str) for text in values.values()):
            yield Problem(path=key, message="Invalid value: all values must be strings")


def change_problems(document: Document, previous: Document, kind: GroupKind) -> Iterator[Problem]:
    """Changes that the previous version forbids."""
    if kind not in _VALUES:
        return
    if kind == SECRET and document["type"] != previous["type"]:
        yield Problem(
            path="type", message=f'Invalid value: "{document["type"]}": field is immutable', hint=_REMEDY
        )
    if not previous.get("immutable"):
        return
    if not document.get("immutable"):
        yield Problem(path="immutable", message=_IMMUTABLE, hint=_REMEDY)
    for key in _VALUES[kind]:
        if document.get(key) != previous.get(key):
            yield Problem(path=key, message=_IMMUTABLE, hint=_REMEDY)
