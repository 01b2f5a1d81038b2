"""The rules on names, namespaces, labels and annotations, which are the same for every kind."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from syncret.config.errors import Problem
from syncret.config.fields import DNS_LABEL, DNS_SUBDOMAIN
from syncret.config.meta import Document
from syncret.config.paths import write

_SUBDOMAIN: Final = re.compile(DNS_SUBDOMAIN.removesuffix("$"))
_LABEL: Final = re.compile(DNS_LABEL.removesuffix("$"))
_QUALIFIED: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_LONGEST_NAME: Final = 253
_LONGEST_LABEL: Final = 63
_ANNOTATIONS: Final = 256 * 1024
_NAME_HINT: Final = "use lower case letters, digits, '-' and '.', with a letter or digit at both ends"
_LABEL_HINT: Final = "use lower case letters, digits and '-', with a letter or digit at both ends"
_VALUE_HINT: Final = "use letters, digits, '-', '_' and '.', with a letter or digit at both ends"


def check_metadata(metadata: Document, *, name_is_label: bool = False) -> Iterator[Problem]:
    """What the API server demands of metadata whose types are right. The name of a Namespace is a label."""
    name: str = metadata.get("name", "")
    longest = _LONGEST_LABEL if name_is_label else _LONGEST_NAME
    if not name:
        yield Problem(path="metadata.name", message="is required")
    elif len(name) > longest:
        yield Problem(path="metadata.name", message=f"must be at most {longest} characters long")
    elif not (_LABEL if name_is_label else _SUBDOMAIN).fullmatch(name):
        hint = _LABEL_HINT if name_is_label else _NAME_HINT
        yield Problem(path="metadata.name", message="is not a DNS name", hint=hint)
    namespace: str = metadata.get("namespace", "")
    if namespace and not (len(namespace) <= _LONGEST_LABEL and _LABEL.fullmatch(namespace)):
        yield Problem(path="metadata.namespace", message="is not a DNS label", hint=_LABEL_HINT)
    yield from _labels(metadata.get("labels", {}))
    yield from _annotations(metadata.get("annotations", {}))
    for place, finalizer in enumerate(metadata.get("finalizers", ())):
        if not _qualified(finalizer):
            path = f"metadata.finalizers[{place}]"
            yield Problem(path=path, message="is not a qualified name", hint="write domain/name")


def _labels(labels: Mapping[str, str]) -> Iterator[Problem]:
    for key, value in labels.items():
        if not _qualified(key):
            yield _wrong("labels", key, "the key is not a qualified name", _VALUE_HINT)
        if len(value) > _LONGEST_LABEL:
            yield _wrong("labels", key, f"must be at most {_LONGEST_LABEL} characters long")
        elif value and not _QUALIFIED.fullmatch(value):
            yield _wrong("labels", key, "is not a label value", _VALUE_HINT)


def _annotations(annotations: Mapping[str, str]) -> Iterator[Problem]:
    for key in annotations:
        if not _qualified(key.lower()):
            yield _wrong("annotations", key, "the key is not a qualified name", _VALUE_HINT)
    if sum(len(key) + len(value) for key, value in annotations.items()) > _ANNOTATIONS:
        message = f"must have at most {_ANNOTATIONS} bytes in all"
        yield Problem(path="metadata.annotations", message=message)


def _wrong(field: str, key: str, message: str, hint: str = "") -> Problem:
    return Problem(path=write(["metadata", field, key]), message=message, hint=hint)


def _qualified(name: str) -> bool:
    """`name` or `domain/name`."""
    prefix, slash, last = name.rpartition("/")
    if slash and not (len(prefix) <= _LONGEST_NAME and _SUBDOMAIN.fullmatch(prefix)):
        return False
    return len(last) <= _LONGEST_LABEL and _QUALIFIED.fullmatch(last) is not None
