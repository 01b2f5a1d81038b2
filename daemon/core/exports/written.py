"""The Secret that a resource claims to have written: its keys are what a vendor's secret API would return.

A name in a manifest proves nothing: the Secret counts only if it names the resource as its owner. Otherwise
the author of a resource could have any Secret of its namespace copied.
"""

from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator, Mapping
from typing import Final

from syncret.config.meta import Document, is_object, member

_CONNECTION: Final = ("writeConnectionSecretToRef", "publishConnectionDetailsTo")


def written_names(resource: Document) -> dict[str, Mapping[str, str]]:
    """The Secrets, each with the names that stand for its keys; its own keys count, too."""
    found: dict[str, dict[str, str]] = {}
    for entry, value in member(resource, "spec", "operatorSpec", "secrets").items():
        if is_object(value):
            name, key = value.get("name"), value.get("key")
            if isinstance(name, str) and isinstance(key, str):
                found.setdefault(name, {})[entry] = key
    for field in _CONNECTION:
        name = _connection(resource, field)
        if name:
            found.setdefault(name, {})
    return dict[str, Mapping[str, str]](found)


def _connection(resource: Document, field: str) -> str:
    reference = member(resource, "spec", field)
    name, namespace = reference.get("name"), reference.get("namespace")
    own = member(resource, "metadata").get("namespace")
    return name if isinstance(name, str) and namespace in (None, own) else ""


def values_of(secret: Document, names: Mapping[str, str]) -> dict[str, str]:
    """The values of a Secret that are text, by its keys and by the names that stand for them."""
    texts = dict(_texts(secret))
    return texts | {name: texts[key] for name, key in names.items() if key in texts}


def _texts(secret: Document) -> Iterator[tuple[str, str]]:
    for key, value in member(secret, "data").items():
        try:
            text = b64decode(value).decode()
        except (NotBase64, TypeError, UnicodeDecodeError):
            continue  # an expression takes text alone
        if text:
            yield key, text
