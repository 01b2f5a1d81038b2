"""Secrets and ConfigMaps: folding of stringData, and what cannot be changed."""

import pytest

from syncret.config.meta import Document, GroupKind
from syncret.daemon.homes.contract import Home, Invalid
from tests.suites.homes.objects import SECRET, document_of, existing, manifest, ref, secret
from tests.support.homes import delete_by_name

CONFIG_MAP = GroupKind("", "ConfigMap")
IMMUTABLE = "field is immutable when `immutable` is set"


async def test_string_data_is_folded_over_data(backend: Home) -> None:
    stored = await backend.create(
        secret(data={"a": "b2xk", "b": "Yg=="}, stringData={"a": "new", "c": "\N{SNOWMAN}"})
    )
    document = await document_of(backend, stored.ref)
    assert document["data"] == {"a": "bmV3", "b": "Yg==", "c": "4piD"}
    assert "stringData" not in document


async def test_string_data_is_folded_on_update_too(backend: Home) -> None:
    await backend.create(secret(stringData={"a": "1"}))
    stored = await backend.update(secret(stringData={"b": "2"}))
    assert (await document_of(backend, stored.ref))["data"] == {"b": "Mg=="}


async def test_equal_values_are_no_write_however_they_are_spelled(backend: Home) -> None:
    created = await backend.create(secret(data={"a": "MQ=="}))
    assert await backend.update(secret(stringData={"a": "1"})) == created


async def test_a_secret_without_type_is_opaque(backend: Home) -> None:
    assert (await backend.create(secret(data=None))).document["type"] == "Opaque"
    assert "data" not in await document_of(backend, ref(SECRET, "s"))


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"stringData": {"a": 1}}, id="number"),
        pytest.param({"data": ["YQ=="]}, id="list"),
        pytest.param({"data": {"a": None}}, id="null"),
    ],
)
async def test_values_are_texts_and_never_quoted(backend: Home, values: Document) -> None:
    with pytest.raises(Invalid, match=r"must (be|hold)"):
        await backend.create(secret(**values))


async def test_the_type_of_a_secret_stays(backend: Home) -> None:
    await backend.create(secret(type="kubernetes.io/tls"))
    with pytest.raises(Invalid) as refusal:
        await backend.update(secret(type="Opaque"))
    assert str(refusal.value) == 'Secret "s" is invalid: type: field is immutable'
    assert [problem.path for problem in refusal.value.problems] == ["type"]


@pytest.mark.parametrize(
    ("change", "paths"),
    [
        pytest.param({"data": {"a": "Mg=="}}, ["data"], id="value"),
        pytest.param({"data": None}, ["data"], id="no values"),
        pytest.param({"immutable": None}, ["immutable"], id="absent"),
        pytest.param({"immutable": False}, ["immutable"], id="false"),
        pytest.param({"immutable": False, "stringData": {"b": "1"}}, ["immutable", "data"], id="both"),
        pytest.param({"stringData": {"a": "1"}}, [], id="the same values"),
    ],
)
async def test_an_immutable_secret_keeps_its_values(
    backend: Home, change: Document, paths: list[str]
) -> None:
    frozen = secret(data={"a": "MQ=="}, immutable=True)
    created = await backend.create(frozen)
    whole = await existing(backend, created.ref)
    if not paths:
        assert await backend.update({**frozen, **change}) == created
        return
    with pytest.raises(Invalid) as refusal:
        await backend.update({**frozen, **change})
    assert [(problem.path, problem.message) for problem in refusal.value.problems] == [
        (path, IMMUTABLE) for path in paths
    ]
    assert await backend.get(created.ref) == whole


async def test_an_immutable_secret_may_get_labels_and_go(backend: Home) -> None:
    frozen = secret(data={"a": "MQ=="}, immutable=True)
    await backend.create(frozen)
    stored = await backend.update(secret(data={"a": "MQ=="}, immutable=True, meta={"labels": {"a": "b"}}))
    assert stored.document["metadata"]["labels"] == {"a": "b"}
    await delete_by_name(backend, stored.ref)
    assert await backend.get(stored.ref) is None


@pytest.mark.parametrize("key", ["data", "binaryData"])
async def test_an_immutable_config_map_keeps_its_values(backend: Home, key: str) -> None:
    await backend.create({**manifest(CONFIG_MAP, immutable=True), key: {"a": "MQ=="}})
    with pytest.raises(Invalid) as refusal:
        await backend.update({**manifest(CONFIG_MAP, immutable=True), key: {"a": "Mg=="}})
    assert str(refusal.value) == f'ConfigMap "a" is invalid: {key}: {IMMUTABLE}'


async def test_several_refusals_are_told_together(backend: Home) -> None:
    await backend.create(secret(data={"a": "MQ=="}, immutable=True))
    with pytest.raises(Invalid) as refusal:
        await backend.update(secret())
    assert str(refusal.value) == f'Secret "s" is invalid: [immutable: {IMMUTABLE}, data: {IMMUTABLE}]'
