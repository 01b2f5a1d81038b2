"""Expectations of objects: Secrets, outputs of other kinds, and what must not be there."""

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document
from tests.suites.corpus.runners.comparing import differences, is_list, knows, list_in, object_in, value_in
from tests.suites.corpus.runners.seen import Found, Seen

ES_API: Final = "external-secrets.io/v1"

_METADATA: Final = frozenset({"labels", "annotations", "absent_labels", "absent_annotations", "finalizers"})


def metadata(expected: Mapping[str, Json], document: Document, path: str) -> Found:
    """What can be expected of any object's metadata."""
    for name in ("labels", "annotations"):
        came = object_in(document, "metadata", name)
        yield from differences(expected.get(name, {}), came, f"{path}.{name}")
        for key in expected.get(f"absent_{name}", []):
            if key in came:
                yield f"expected no {key} in {path}.{name}; came {came[key]!r}"
    if "finalizers" in expected:
        finalizers = list_in(document, "metadata", "finalizers")
        yield from same_set(expected["finalizers"], finalizers, f"{path}.finalizers")


def same_set(expected: Sequence[str], came: Sequence[str], path: str) -> Found:
    if sorted(expected) != sorted(came):
        yield f"expected {path} = {sorted(expected)}; came {sorted(came)}"


def _owned(expected: Mapping[str, Json], document: Document, seen: Seen, path: str) -> Found:
    """Whether the resource controls the object."""
    if "owned" not in expected:
        return
    uid = value_in(seen.current, "metadata", "uid")
    owners = list_in(document, "metadata", "ownerReferences")
    came = any(one["uid"] == uid and one.get("controller") for one in owners)
    if came is not expected["owned"]:
        yield f"expected {path}.owned = {expected['owned']}; the owners are {owners!r}"


_SECRET: Final = frozenset(
    {
        *("name", "namespace", "type", "owned", "immutable", *_METADATA),
        *("data", "data_b64", "data_regex", "exact_data", "exact_keys", "absent_keys"),
    }
)


def secret(expected: Json, seen: Seen) -> Found:
    """One Secret, or several."""
    for one in expected if is_list(expected) else [expected]:
        yield from _secret(one, seen)


def _secret(expected: Mapping[str, Json], seen: Seen) -> Found:
    path = f"secret {expected['name']}"
    knows(expected, _SECRET, "secret")
    came = seen.find("Secret", expected["name"], expected.get("namespace", seen.namespace))
    if came is None:
        yield f"expected the {path}; there is none"
        return
    yield from _data(expected, came, path)
    yield from metadata(expected, came, path)
    if "type" in expected and came.get("type") != expected["type"]:
        yield f"expected {path}.type = {expected['type']!r}; came {came.get('type')!r}"
    if "immutable" in expected and came.get("immutable", False) is not expected["immutable"]:
        yield f"expected {path}.immutable = {expected['immutable']}; came {came.get('immutable')!r}"
    yield from _owned(expected, came, seen, path)


def _data(expected: Mapping[str, Json], secret: Document, path: str) -> Found:
    came = {key: base64.b64decode(value) for key, value in object_in(secret, "data").items()}
    wanted = {key: value.encode() for key, value in expected.get("data", {}).items()}
    wanted |= {key: base64.b64decode(value) for key, value in expected.get("data_b64", {}).items()}
    patterns: Mapping[str, str] = expected.get("data_regex", {})
    yield from differences(wanted, came, f"{path}.data")
    for key, pattern in patterns.items():
        if key not in came or not re.search(pattern, came[key].decode("utf-8", "replace")):
            yield f"expected {path}.data.{key} to match {pattern!r}; came {came.get(key)!r}"
    if expected.get("exact_data") or expected.get("exact_keys"):
        yield from same_set([*wanted, *patterns], [*came], f"the keys of {path}")
    for key in expected.get("absent_keys", []):
        if key in came:
            yield f"expected no {path}.data.{key}; came {came[key]!r}"


def absent_secrets(expected: Json, seen: Seen) -> Found:
    """Secrets by name, or by `namespace/name`."""
    for name in expected:
        namespace, _, last = name.rpartition("/")
        if seen.find("Secret", last, namespace or seen.namespace) is not None:
            yield f"expected no secret {name}; it is there"


def secret_unchanged(expected: Json, seen: Seen) -> Found:
    came = [one for one in seen.changes if one["kind"] == "Secret"]
    if (not came) is not expected:
        yield f"expected secret_unchanged = {expected}; came the changes {came!r}"


_OBJECT: Final = frozenset({"apiVersion", "kind", "name", "namespace", "owned", *_METADATA})


def output(expected: Json, seen: Seen) -> Found:
    """An output of another kind; what is not about its metadata is a field of it, and equal."""
    yield from _object(expected, seen, exact=True)


def external_secret(expected: Json, seen: Seen) -> Found:
    """The child of a ClusterExternalSecret; its fields hold at least what is expected."""
    yield from _object({"apiVersion": ES_API, "kind": "ExternalSecret", **expected}, seen, exact=False)


def _object(expected: Mapping[str, Json], seen: Seen, *, exact: bool) -> Found:
    path = f"{expected['kind']} {expected['name']}"
    came = _found(expected, seen)
    if came is None:
        yield f"expected the {path}; there is none"
        return
    yield from metadata(expected, came, path)
    yield from _owned(expected, came, seen, path)
    for name in expected.keys() - _OBJECT:
        if not exact:
            yield from differences(expected[name], came.get(name), f"{path}.{name}")
        elif (came.get(name) or {}) != expected[name]:
            yield f"expected {path}.{name} = {expected[name]!r}; came {came.get(name)!r}"


def _found(expected: Mapping[str, Json], seen: Seen) -> Document | None:
    namespace = expected.get("namespace", seen.namespace)
    return seen.find(expected["kind"], expected["name"], namespace, expected["apiVersion"])


def absent_objects(expected: Json, seen: Seen) -> Found:
    for one in expected:
        knows(one, {"apiVersion", "kind", "name", "namespace"}, "absent_objects")
        if _found(one, seen) is not None:
            yield f"expected no {one['kind']} {one['name']}; it is there"
