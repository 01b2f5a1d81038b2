"""What conditions and events together say of an object."""

import msgspec
import pytest

from syncret.config.meta import Document, ref_of
from syncret.daemon.cli.cluster.knowledge import due, failures, last_error
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.kubernetes.user import ClusterEvent

AT = "2026-01-01T00:00:00Z"
NOW = 1767225600.0


def stored(kind: str = "ExternalSecret", spec: Document | None = None, **status: object) -> StoredObject:
    version = "v1alpha1" if kind == "PushSecret" else "v1"
    document: Document = {
        "apiVersion": f"external-secrets.io/{version}",
        "kind": kind,
        "metadata": {"name": "e", "namespace": "shop", "generation": 1},
        "spec": spec or {},
        "status": status,
    }
    return StoredObject(
        ref=ref_of(document), uid="u", resource_version="1", data=msgspec.json.encode(document)
    )


def condition(message: str, status: str = "False") -> list[Document]:
    return [{"type": "Ready", "status": status, "message": message, "lastTransitionTime": AT}]


def event(message: str, *, at: str = AT, warning: bool = True, count: int = 1) -> ClusterEvent:
    return ClusterEvent(at=at, warning=warning, reason="r", message=message, count=count, source="s")


@pytest.mark.parametrize(
    ("said", "told", "message", "hint"),
    [
        pytest.param("no: b", [], "no: b", "", id="condition alone"),
        pytest.param("no", [event("key x, err: gone")], "no: key x, err: gone", "", id="as ESO"),
        pytest.param(
            "no: gone", [event("no: at a: gone (make it)")], "no: at a: gone", "make it", id="as we"
        ),
        pytest.param(
            "no: gone", [event("no: gone (make it (now))")], "no: gone", "make it (now)", id="brackets"
        ),
        pytest.param("no: gone", [event("fine", warning=False)], "no: gone", "", id="no warning"),
        pytest.param("no: gone", [event("of before", at="2025-12-31T00:00:00Z")], "no: gone", "", id="old"),
        pytest.param("", [event("gone")], "gone", "", id="no message"),
    ],
)
def test_the_cause_is_said_once(said: str, told: list[ClusterEvent], message: str, hint: str) -> None:
    error = last_error(stored(conditions=condition(said)), told)
    assert error is not None
    assert (error.message, error.hint) == (message, hint)


@pytest.mark.parametrize(
    "conditions",
    [
        pytest.param([], id="none"),
        pytest.param(None, id="null"),
        pytest.param(condition("fine", "True"), id="in order"),
        pytest.param("text", id="malformed"),
    ],
)
def test_what_is_in_order_has_no_error(conditions: object) -> None:
    assert last_error(stored(conditions=conditions), [event("of before")]) is None


def test_failures_are_counted_by_the_newest_warning() -> None:
    assert failures([event("fine", warning=False, count=9), event("a", count=4), event("b", count=7)]) == 4
    assert failures([]) == 1


@pytest.mark.parametrize(
    ("kind", "spec", "expected"),
    [
        pytest.param("ExternalSecret", {"refreshInterval": "1h"}, NOW, id="changed since"),
        pytest.param("ExternalSecret", {"refreshInterval": "soon"}, None, id="malformed"),
        pytest.param("ExternalSecret", {"data": "none"}, None, id="another form"),
        pytest.param(
            "PushSecret", {"selector": {"secret": {"name": "s"}}, "secretStoreRefs": []}, NOW, id="push"
        ),
        pytest.param("SecretStore", {"provider": {"fake": {"data": []}}}, None, id="store"),
    ],
)
def test_when_an_object_is_due(kind: str, spec: Document, expected: float | None) -> None:
    synced = stored(kind, spec, refreshTime=AT, syncedResourceVersion="0-x")
    assert due(synced, NOW, spread=False) == expected
