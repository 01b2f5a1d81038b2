"""The rules on names, namespaces, labels and annotations, which are the same for every kind."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from syncret.config.errors import Problem
from syncret.config.fields import DNS_LABEL, DNS_SUBDOMAIN, Json
from syncret.config.meta import Document, is_list
from syncret.config.paths import write
from syncret.config.schema.scalars import A_TIME, NO_TIME, is_time

_SUBDOMAIN: Final = re.compile(DNS_SUBDOMAIN.removesuffix("$"))
_LABEL: Final = re.compile(DNS_LABEL.removesuffix("$"))
_QUALIFIED: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
_LONGEST_NAME: Final = 253
_LONGEST_LABEL: Final = 63
_ANNOTATIONS: Final = 256 * 1024
_ANY: Final = "surrogatepass"
_ONE_OF_BOTH: Final = frozenset({"orphan", "foregroundDeletion"})
_NAME_HINT: Final = "use lower case letters, digits, '-' and '.', with a letter or digit at both ends"
_LABEL_HINT: Final = "use lower case letters, digits and '-', with a letter or digit at both ends"
_VALUE_HINT: Final = "use letters, digits, '-', '_' and '.', with a letter or digit at both ends"


def _is_text(value: Json) -> bool:
    return isinstance(value, str)


def _is_whole(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_UNREAD: Final[dict[str, tuple[Callable[[Json], bool], str]]] = {
    "managedFields": (is_list, "an array"),
    "selfLink": (_is_text, "a string"),
    "generateName": (_is_text, "a string"),
    "deletionGracePeriodSeconds": (_is_whole, "an integer"),
}


def check_metadata(metadata: Document, *, name_is_label: bool = False) -> Iterator[Problem]:
    """The API server's rules for metadata whose types are right. The name of a Namespace must be a label."""
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
    yield from check_labels_and_annotations(metadata)


def check_labels_and_annotations(metadata: Document) -> Iterator[Problem]:
    """The part of `check_metadata` that also holds for kinds whose names follow rules of their own."""
    for field, check in _MARKS.items():
        if field in metadata:
            yield from check(metadata[field])
    for field in ("creationTimestamp", "deletionTimestamp"):
        if field in metadata and not is_time(metadata[field]):
            yield Problem(path=f"metadata.{field}", message=NO_TIME, hint=A_TIME)


def check_server_fields(metadata: Document) -> Iterator[Problem]:
    """The API server's rules for the members that are not used here and are dropped."""
    if metadata.keys().isdisjoint(_UNREAD):
        return
    for field, (fits, wanted) in _UNREAD.items():
        value = metadata.get(field)
        if value is not None and not fits(value):
            yield Problem(path=f"metadata.{field}", message=f"must be {wanted}", hint="remove it")
    prefix = metadata.get("generateName")
    if isinstance(prefix, str) and prefix:
        # As the server checks it: as if its suffix replaced a final dash and the character before.
        name = f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        if len(name) > _LONGEST_NAME or not _SUBDOMAIN.fullmatch(name):
            yield Problem(path="metadata.generateName", message="cannot begin a DNS name", hint=_NAME_HINT)


def drop_server_fields(metadata: Document) -> Document:
    """A copy of the metadata without the members that are not used here."""
    if metadata.keys().isdisjoint(_UNREAD):
        return dict(metadata)
    return {name: value for name, value in metadata.items() if name not in _UNREAD}


def _finalizers(finalizers: Sequence[str]) -> Iterator[Problem]:
    for place, finalizer in enumerate(finalizers):
        if not is_qualified(finalizer):
            path = f"metadata.finalizers[{place}]"
            yield Problem(path=path, message="is not a qualified name", hint="write domain/name")
    if set(finalizers) >= _ONE_OF_BOTH:
        message = "orphan and foregroundDeletion cannot be both set"
        yield Problem(path="metadata.finalizers", message=message, hint="keep one of them")


def _owners(owners: Sequence[Document]) -> Iterator[Problem]:
    for place, owner in enumerate(owners):
        path = f"metadata.ownerReferences[{place}]"
        group, slash, version = owner["apiVersion"].rpartition("/")
        if not version or "/" in group or (slash and not group):
            yield Problem(path=f"{path}.apiVersion", message="is not an API version", hint="such as v1")
        for field in ("kind", "name", "uid"):
            if not owner[field]:
                yield Problem(path=f"{path}.{field}", message="must not be empty")
        if (owner["apiVersion"], owner["kind"]) == ("v1", "Event"):
            yield Problem(path=path, message="an Event must not own anything")
    if sum(owner.get("controller") is True for owner in owners) > 1:
        message = "only one owner can have controller set to true"
        yield Problem(path="metadata.ownerReferences", message=message)


def _labels(labels: Mapping[str, str]) -> Iterator[Problem]:
    for key, value in labels.items():
        if not is_qualified(key):
            yield _wrong("labels", key, "the key is not a qualified name", _VALUE_HINT)
        if len(value) > _LONGEST_LABEL:
            yield _wrong("labels", key, f"must be at most {_LONGEST_LABEL} characters long")
        elif not is_label_value(value):
            yield _wrong("labels", key, "is not a label value", _VALUE_HINT)


def _annotations(annotations: Mapping[str, str]) -> Iterator[Problem]:
    for key in annotations:
        if not is_qualified(key.lower()):
            yield _wrong("annotations", key, "the key is not a qualified name", _VALUE_HINT)
    if (
        sum(
            len(key.encode(errors=_ANY)) + len(value.encode(errors=_ANY))
            for key, value in annotations.items()
        )
        > _ANNOTATIONS
    ):
        message = f"must have at most {_ANNOTATIONS} bytes in all"
        yield Problem(path="metadata.annotations", message=message)


def _wrong(field: str, key: str, message: str, hint: str = "") -> Problem:
    return Problem(path=write(["metadata", field, key]), message=message, hint=hint)


@lru_cache(maxsize=1024)
def is_qualified(name: str) -> bool:
    """Whether it is `name` or `domain/name`. Cached: thousands of objects share the keys of their labels."""
    prefix, slash, last = name.rpartition("/")
    if slash and not (len(prefix) <= _LONGEST_NAME and _SUBDOMAIN.fullmatch(prefix)):
        return False
    return len(last) <= _LONGEST_LABEL and _QUALIFIED.fullmatch(last) is not None


_MARKS: Final[dict[str, Callable[[Any], Iterator[Problem]]]] = {
    "labels": _labels,
    "annotations": _annotations,
    "finalizers": _finalizers,
    "ownerReferences": _owners,
}


def is_label_value(value: str) -> bool:
    """Whether a label may have this value."""
    return not value or (len(value) <= _LONGEST_LABEL and _QUALIFIED.fullmatch(value) is not None)
