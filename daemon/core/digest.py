"""Digests of secret data for the annotation `reconcile.external-secrets.io/data-hash`.

The hash is that of Go's text for the data, so that a Secret written by the operator counts as unchanged. From
a digest a short secret can be guessed: it is stored only with the secret, and never logged.
"""

import hashlib
from collections.abc import Mapping
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from syncret.providers.kit.golang import fmt as goprint


def text_hash(text: str) -> str:
    """The digest of a string."""
    return hashlib.sha3_224(text.encode("utf-8", "surrogatepass")).hexdigest()


_NO_METADATA: Final = text_hash("{annotations:map[] labels:map[]}")


def data_hash(data: Mapping[str, bytes]) -> str:
    """The digest of a Secret's data."""
    entries = (f"{key}:{_numbers(data[key])}" for key in sorted(data))
    return text_hash(f"map[{' '.join(entries)}]")


def _numbers(value: bytes) -> str:
    """Bytes as `[118 97]`; replacing the commas of Python's list is the fastest way."""
    return str(list(value)).replace(",", "")


def metadata_hash(labels: Mapping[str, str], annotations: Mapping[str, str]) -> str:
    """The digest of an object's labels and annotations."""
    if not labels and not annotations:  # as with most manifests
        return _NO_METADATA
    return text_hash(f"{{annotations:{_strings(annotations)} labels:{_strings(labels)}}}")


def value_hash(value: Json) -> str:
    """The digest of any JSON value."""
    return text_hash(_shown(value))


def _shown(value: Json) -> str:
    """The value in the format of Go's `%+v`."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return str(value).lower()
    if is_object(value):
        return f"map[{' '.join(f'{key}:{_shown(value[key])}' for key in sorted(value))}]"
    if is_list(value):
        return f"[{' '.join(map(_shown, value))}]"
    return goprint.number(value) if isinstance(value, float) else str(value)


def _strings(entries: Mapping[str, str]) -> str:
    return f"map[{' '.join(f'{key}:{entries[key]}' for key in sorted(entries))}]"
