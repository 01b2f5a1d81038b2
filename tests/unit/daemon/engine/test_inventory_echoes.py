import msgspec
import pytest

from syncret.config.fields import Json
from syncret.config.meta import ObjectRef
from syncret.daemon.engine.inventory import KEPT, Echoes, only_status
from syncret.daemon.homes.contract import Stored

REF = ObjectRef("", "Secret", "x", "s")
WRITER = ObjectRef("external-secrets.io", "ExternalSecret", "x", "e")
OTHER = WRITER._replace(name="other")


def stored(version: str = "1", uid: str = "u", **document: Json) -> Stored:
    metadata = {"name": "s", "generation": 1, "uid": uid, "resourceVersion": version}
    document["metadata"] = metadata | document.get("metadata", {})
    return Stored(
        ref=REF,
        uid=uid,
        resource_version=version,
        generation=document["metadata"]["generation"],
        data=msgspec.json.encode(document),
    )


def test_an_echo_is_known_once() -> None:
    echoes = Echoes()
    echoes.expect(REF, "5", WRITER)
    assert echoes.writer(stored("4")) is None
    assert echoes.writer(stored("5")) == WRITER
    assert echoes.writer(stored("5")) is None
    assert len(echoes) == 0


def test_an_echo_forgets_what_was_written_before_it() -> None:
    echoes = Echoes()
    for version, writer in (("1", WRITER), ("2", OTHER), ("3", WRITER)):
        echoes.expect(REF, version, writer)
    assert echoes.writer(stored("2")) == OTHER
    assert echoes.writer(stored("1")) is None
    assert echoes.writer(stored("3")) == WRITER


def test_echoes_that_never_come_do_not_pile_up() -> None:
    echoes = Echoes()
    for version in range(1000):
        echoes.expect(REF, str(version), WRITER)
    assert echoes.writer(stored(str(1000 - KEPT - 1))) is None
    echoes.forget(REF)
    assert len(echoes) == 0


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(stored("1"), stored("2", status={"a": 1}), True, id="status"),
        pytest.param(stored("1"), stored("2", metadata={"generation": 2}), False, id="generation"),
        pytest.param(stored("1"), stored("2", metadata={"labels": {"a": "b"}}), False, id="label"),
        pytest.param(stored("1"), stored("2", metadata={"annotations": {"a": "b"}}), False, id="annotation"),
        pytest.param(stored("1"), stored("2", metadata={"finalizers": ["f"]}), False, id="finalizer"),
        pytest.param(stored("1"), stored("2", metadata={"deletionTimestamp": "t"}), False, id="deletion"),
        pytest.param(stored("1"), stored("2", uid="new"), False, id="another life"),
        pytest.param(None, stored("2"), False, id="new"),
        pytest.param(
            stored("1", metadata={"generation": 0}),
            stored("2", metadata={"generation": 0}),
            False,
            id="a kind without generations",
        ),
    ],
)
def test_only_status(before: Stored | None, after: Stored, *, expected: bool) -> None:
    assert only_status(before, after) is expected
