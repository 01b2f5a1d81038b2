"""Expectations of PushSecrets: what was written to secret managers, deleted there, and told in the status."""

import base64
import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document
from tests.suites.corpus.runners.comparing import differences, knows, list_in, object_in
from tests.suites.corpus.runners.seen import Found, Seen

_WRITE: Final = frozenset(
    {
        "store",
        "namespace",
        "remoteKey",
        "property",
        "value",
        "value_json",
        "value_b64",
        "value_regex",
        "metadata",
    }
)


def pushed(expected: Json, seen: Seen) -> Found:
    """Each write that is expected came, and no other; a write that is repeated counts once."""
    writes = _once(seen.writes)
    for one in expected:
        knows(one, _WRITE, "pushed[]")
        fitting = next((write for write in writes if _is_write(one, write)), None)
        if fitting is None:
            yield f"expected the push {one!r}; came {[_shown(write) for write in writes]!r}"
        else:
            writes.remove(fitting)
    if writes:
        yield f"expected no other push; came {[_shown(write) for write in writes]!r}"


def _once(calls: Iterable[Document]) -> list[Document]:
    return list({json.dumps(one, sort_keys=True): one for one in calls}.values())


def _is_write(expected: Mapping[str, Json], write: Document) -> bool:
    value = base64.b64decode(write["valueBase64"])
    return (
        _is_target(expected, write)
        and (write.get("metadata") or None) == (expected.get("metadata") or None)
        and _is_value(expected, value)
    )


def _is_target(expected: Mapping[str, Json], came: Document) -> bool:
    return bool(
        expected["store"] == came["store"]
        and expected["remoteKey"] == came["remoteKey"]
        and expected.get("property", "") == came.get("property", "")
        and expected.get("namespace", came.get("namespace")) == came.get("namespace")
    )


def _is_value(expected: Mapping[str, Json], value: bytes) -> bool:
    if "value_json" in expected:
        wanted = json.dumps(expected["value_json"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return value == wanted.encode()
    if "value_b64" in expected:
        return value == base64.b64decode(expected["value_b64"])
    if "value_regex" in expected:
        return re.search(expected["value_regex"], value.decode("utf-8", "replace")) is not None
    return "value" not in expected or value == expected["value"].encode()


def _shown(write: Document) -> Document:
    return {**write, "valueBase64": base64.b64decode(write["valueBase64"])}


def deleted(expected: Json, seen: Seen) -> Found:
    deletes = _once(seen.deletes)
    for one in expected:
        knows(one, {"store", "namespace", "remoteKey", "property"}, "deleted[]")
        fitting = next((came for came in deletes if _is_target(one, came)), None)
        if fitting is None:
            yield f"expected the deletion {one!r}; came {deletes!r}"
        else:
            deletes.remove(fitting)
    if deletes:
        yield f"expected no other deletion; came {deletes!r}"


def provider_value(expected: Json, seen: Seen) -> Found:
    """What a store holds by now: pushed to it, or from its own spec."""
    knows(expected, _WRITE, "provider_value")
    kind, _, name = expected["store"].partition("/")
    came = seen.held.get((expected["store"], expected["remoteKey"], expected.get("property", "")))
    if came is None:
        store = seen.store({"kind": kind, "name": name})
        entries = list_in(store, "spec", "provider", "fake", "data")
        came = next((one["value"].encode() for one in entries if one["key"] == expected["remoteKey"]), None)
    if came is None or not _is_value(expected, came):
        yield f"expected provider_value {expected!r}; came {came!r}"


def synced(expected: Json, seen: Seen) -> Found:
    yield from differences(expected, object_in(seen.status, "syncedPushSecrets"), "syncedPushSecrets")


def synced_keys(expected: Json, seen: Seen) -> Found:
    came = {
        store: sorted(entries or {}) for store, entries in object_in(seen.status, "syncedPushSecrets").items()
    }
    wanted = {store: sorted(keys) for store, keys in expected.items()}
    if came != wanted:
        yield f"expected syncedPushSecrets_keys {wanted!r}; came {came!r}"
