"""SOPS's format: what is encrypted is read again, and nothing that was changed is believed."""

from copy import deepcopy
from datetime import UTC, datetime

import pytest
from pyrage import x25519

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.daemon.cli.releasing import sops
from syncret.daemon.cli.releasing.sops import SopsError, decrypt, encrypt
from tests.support.canary import CANARY, leaks

NOW = datetime(2026, 1, 1, tzinfo=UTC)
KEY = x25519.Identity.generate()
SECRET: Document = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "db", "labels": {"a": "b"}},
    "type": "Opaque",
    "immutable": True,
    "data": {"password": CANARY, "empty": "", "other": "eA=="},
}


def encrypted(document: Document = SECRET, *keys: x25519.Identity) -> Document:
    given = {str(key.to_public()): key.to_public() for key in keys or (KEY,)}
    return encrypt(document, given, NOW)


def test_only_data_is_encrypted_and_comes_back() -> None:
    made = encrypted()
    assert leaks("file", str(made)) == []
    assert {name: made[name] for name in SECRET if name != "data"} == {
        name: SECRET[name] for name in SECRET if name != "data"
    }
    assert made["data"]["empty"] == ""
    assert decrypt([made], [KEY]) == [SECRET]


def test_each_recipient_reads_it_and_nobody_else() -> None:
    second, stranger = x25519.Identity.generate(), x25519.Identity.generate()
    made = encrypted(SECRET, KEY, second)
    assert decrypt([made], [stranger, second]) == [SECRET]
    with pytest.raises(SopsError, match="is encrypted for other keys of age"):
        decrypt([made], [stranger])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({"metadata": {"name": "evil"}}, "its MAC is wrong", id="a plain value"),
        pytest.param({"more": "x"}, "its MAC is wrong", id="a value more"),
        pytest.param({"data": {}}, "its MAC is wrong", id="values less"),
        pytest.param({"type": f"ENC[{CANARY}]"}, "cannot be read", id="no encrypted value"),
        pytest.param({"type": "ENC[AES256_GCM,data:!,iv:!,tag:!,type:str]"}, "was changed", id="no base64"),
        pytest.param(
            {"type": "ENC[AES256_GCM,data:YQ==,iv:YQ==,tag:YQ==,type:str]"}, "cannot be read", id="short"
        ),
    ],
)
def test_what_was_changed_is_refused(change: Document, said: str) -> None:
    with pytest.raises(SopsError, match=said) as refused:
        decrypt([encrypted() | change], [KEY])
    assert leaks("message", str(refused.value)) == []


def test_a_value_at_another_key_is_refused() -> None:
    made = encrypted()
    swapped = deepcopy(made)
    swapped["data"]["password"], swapped["data"]["other"] = made["data"]["other"], made["data"]["password"]
    with pytest.raises(SopsError, match="moved to another key"):
        decrypt([swapped], [KEY])


@pytest.mark.parametrize(
    ("told", "said"),
    [
        pytest.param({"mac": None}, "cannot be read", id="no MAC"),
        pytest.param({"mac": "x"}, "cannot be read", id="a MAC that is none"),
        pytest.param({"lastmodified": "2026-01-02T00:00:00Z"}, "was changed", id="another time"),
        pytest.param({"age": []}, "is not encrypted for a key of age", id="no keys"),
        pytest.param({"age": [{"enc": "x"}]}, "for other keys of age", id="no age"),
        pytest.param({"age": "x"}, "is not encrypted for a key of age", id="malformed keys"),
        pytest.param({"shamir_threshold": 2}, "has key groups", id="key groups"),
        pytest.param({"mac_only_encrypted": True}, "its MAC is wrong", id="a digest of less"),
    ],
)
def test_metadata_that_was_changed_is_refused(told: Document, said: str) -> None:
    made = encrypted()
    made[sops.MEMBER] |= told
    with pytest.raises(SopsError, match=said):
        decrypt([made], [KEY])


@pytest.mark.parametrize(
    ("value", "digested"),
    [(True, b"True"), (12, b"12"), (1.0, b"1"), (1e21, b"1000000000000000000000"), (1e-05, b"0.00001")],
)
def test_numbers_are_digested_as_go_writes_them(value: Json, digested: bytes) -> None:
    assert sops._bytes(value) == digested  # pyright: ignore[reportPrivateUsage]  # proven by real sops in tests/real
