"""Fingerprints of secret data, as the annotation `reconcile.external-secrets.io/data-hash` holds them.

What is hashed is how Go prints the data, so that a Secret written by either side counts as unchanged.
A digest of a short secret can be guessed: it stays beside the secret and out of logs.
"""

import hashlib
from collections.abc import Mapping


def text_hash(text: str) -> str:
    """The fingerprint of a string."""
    return hashlib.sha3_224(text.encode("utf-8", "surrogatepass")).hexdigest()


def data_hash(data: Mapping[str, bytes]) -> str:
    """The fingerprint of a Secret's data."""
    entries = (f"{key}:[{' '.join(map(str, data[key]))}]" for key in sorted(data))
    return text_hash(f"map[{' '.join(entries)}]")


def metadata_hash(labels: Mapping[str, str], annotations: Mapping[str, str]) -> str:
    """The fingerprint of an object's labels and annotations."""
    return text_hash(f"{{annotations:{_strings(annotations)} labels:{_strings(labels)}}}")


def _strings(entries: Mapping[str, str]) -> str:
    return f"map[{' '.join(f'{key}:{entries[key]}' for key in sorted(entries))}]"
