"""What a store of the embedded provider answers."""

import pytest

from syncret.config.catalog import Scope
from syncret.providers.errors import Malformed
from syncret.providers.fake import PROVIDER
from syncret.providers.fake.client import FakeClient
from syncret.providers.fake.manager import SecretManager, Seed
from syncret.providers.fake.spec import FakeData, FakeSpec, check
from syncret.providers.kit.batching import unpaced
from syncret.providers.testing.opened import compute_at_once
from syncret.providers.values import FindQuery, RemoteRef, SecretBytes
from syncret.providers.work import Work

CLIENT = FakeClient(SecretManager([Seed("a", "x")]), compute_at_once)


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        pytest.param(b"x", "", b"x", id="whole"),
        pytest.param(b'{"a":{"b":"c"}}', "a.b", b"c", id="path"),
        pytest.param(b'{"a.b":"c"}', r"a\.b", b"c", id="escaped path"),
        pytest.param(b'{"a":null}', "a", b"", id="null is there"),
        pytest.param(b'{"a":1}', "b", None, id="absent"),
        pytest.param(b"static", "b", None, id="no JSON"),
    ],
)
def test_value(value: bytes, path: str, expected: bytes | None) -> None:
    found = CLIENT.value(SecretBytes(value), RemoteRef("a", path), Work())

    assert (None if found is None else found.raw) == expected


def test_fields_of_a_property() -> None:
    found = CLIENT.fields(SecretBytes(b'{"a":{"b":"c","d":[1, 2]}}'), RemoteRef("a", "a"), Work())

    assert found == {"b": SecretBytes(b"c"), "d": SecretBytes(b"[1, 2]")}
    assert CLIENT.fields(SecretBytes(b"{}"), RemoteRef("a", "nope"), Work()) is None


def test_fields_need_an_object() -> None:
    with pytest.raises(Malformed, match="unable to unmarshal secret"):
        CLIENT.fields(SecretBytes(b"text"), RemoteRef("a"), Work())


@pytest.mark.parametrize("query", [FindQuery(), FindQuery(path="a"), FindQuery(tags=(("a", "b"),))])
async def test_it_finds_by_name_alone(query: FindQuery) -> None:
    with pytest.raises(Malformed, match="unsupported find operator"):
        await CLIENT.find(query, unpaced, Work())


async def test_probing_yields_what_the_spec_says() -> None:
    assert await FakeClient(SecretManager(), compute_at_once).probe() == "ready"
    assert await FakeClient(SecretManager(), compute_at_once, 1).probe() == "unknown"
    with pytest.raises(Malformed, match="unable to validate"):
        await FakeClient(SecretManager(), compute_at_once, 2).probe()


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param((FakeData(key="a", value="b"),), [], id="complete"),
        pytest.param((), [], id="empty"),
        pytest.param(
            (FakeData(key="", value="b"),), [("data[0].key", "key must be set in data 0")], id="no key"
        ),
        pytest.param(
            (FakeData(key="a", value="b"), FakeData(key="a", value="")),
            [("data[1].value", "at least one value must be set in data 1")],
            id="no value",
        ),
    ],
)
def test_what_a_spec_must_have(entries: tuple[FakeData, ...], expected: list[tuple[str, str]]) -> None:
    problems = check(FakeSpec(data=entries), Scope(cluster=False, namespace="default"))

    assert [(problem.path, problem.message) for problem in problems] == expected


def test_admission_is_to_warn_of_it() -> None:
    assert PROVIDER.name == "fake"
    assert not PROVIDER.spec.maintained
