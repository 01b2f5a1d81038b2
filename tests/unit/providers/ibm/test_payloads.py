"""What each type of secret gives, by property and as a map: as the operator has it."""

from typing import Any

import pytest

from syncret.config.fields import Json
from syncret.providers.errors import Malformed
from syncret.providers.ibm.payloads import Fields, fields_of, value_of
from syncret.providers.values import RemoteRef
from syncret.providers.work import Work

ID = "d5deb37a-7883-4fe2-a5e7-3c15420adc76"
DATA = {
    "key1": "val1",
    "count": 7.0,
    "html": "<&>",
    "none": None,
    "keyC": {"keyC1": "valC1", "keyC2": {"a": "b"}},
    "special.log": "file",
}
CREDENTIALS = {"apikey": "k", "iam_role_crn": "crn:<r>", "endpoints": ["x", "y"]}
CERTIFICATE = {"certificate": "c", "intermediate": "i", "private_key": "p"}
FIELDS: dict[str, dict[str, Json]] = {
    "arbitrary": {"payload": '{"foo":"bar"}'},
    "username_password": {"username": "ada", "password": "pw"},
    "iam_credentials": {"api_key": "k"},
    "service_credentials": {"credentials": CREDENTIALS},
    "imported_cert": CERTIFICATE,
    "public_cert": CERTIFICATE,
    "private_cert": {"certificate": "c", "private_key": "p", "issuing_ca": "ca", "ca_chain": ["ca", "root"]},
    "kv": {"data": DATA},
    "custom_credentials": {"credentials_content": DATA},
}
DOCUMENT = (
    r'{"count":7,"html":"\u003c\u0026\u003e","key1":"val1","keyC":{"keyC1":"valC1","keyC2":{"a":"b"}},'
    '"none":null,"special.log":"file"}'
)


def payload(kind: str, **changes: Json) -> Fields:
    fields = {"secret_type": kind, "name": "it", **FIELDS[kind], **changes}
    return Fields({name: value for name, value in fields.items() if value != "absent"})


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        pytest.param("arbitrary", "", '{"foo":"bar"}', id="arbitrary"),
        pytest.param("arbitrary", "foo", '{"foo":"bar"}', id="arbitrary has no properties"),
        pytest.param("username_password", "username", "ada", id="user name"),
        pytest.param("username_password", "password", "pw", id="password"),
        pytest.param("username_password", "name", "it", id="any text"),
        pytest.param("iam_credentials", "", "k", id="API key"),
        pytest.param("iam_credentials", "api_key", "k", id="API key by name"),
        pytest.param(
            "service_credentials",
            "",
            r'{"apikey":"k","endpoints":["x","y"],"iam_role_crn":"crn:\u003cr\u003e"}',
            id="service credentials",
        ),
        pytest.param("imported_cert", "certificate", "c", id="certificate"),
        pytest.param("public_cert", "intermediate", "i", id="intermediate"),
        pytest.param("private_cert", "issuing_ca", "ca", id="issuing authority"),
        pytest.param("kv", "", DOCUMENT, id="kv"),
        pytest.param("kv", "key1", "val1", id="kv: a member"),
        pytest.param("kv", "count", "7", id="kv: a number"),
        pytest.param("kv", "keyC.keyC1", "valC1", id="kv: a path"),
        pytest.param("kv", "keyC.keyC2", '{"a":"b"}', id="kv: an object"),
        pytest.param("kv", "special.log", "file", id="kv: a name with a dot"),
        pytest.param("custom_credentials", "", DOCUMENT, id="custom credentials"),
        pytest.param("custom_credentials", "key1", "val1", id="custom credentials: a member"),
    ],
)
def test_values(kind: str, name: str, expected: str) -> None:
    assert value_of(payload(kind), RemoteRef(f"{kind}/{ID}", name), Work()).raw.decode() == expected


@pytest.mark.parametrize("name", ["intermediate", "private_key"])
def test_an_imported_certificate_may_lack_parts(name: str) -> None:
    found = payload("imported_cert", **{name: "absent"})

    assert value_of(found, RemoteRef(f"imported_cert/{ID}", name), Work()).raw == b""
    assert fields_of(found, RemoteRef(f"imported_cert/{ID}"), Work())[name].raw == b""


MAPS: dict[str, dict[str, str]] = {
    "arbitrary": {"arbitrary": '{"foo":"bar"}'},
    "username_password": {"username": "ada", "password": "pw"},
    "iam_credentials": {"apikey": "k"},
    "service_credentials": {"credentials": "map[apikey:k endpoints:[x y] iam_role_crn:crn:<r>]"},
    "imported_cert": CERTIFICATE,
    "public_cert": CERTIFICATE,
    "private_cert": {"certificate": "c", "private_key": "p"},
    "kv": {
        "key1": "val1",
        "count": "7",
        "html": "<&>",
        "none": "",
        "keyC": '{"keyC1":"valC1","keyC2":{"a":"b"}}',
        "special.log": "file",
    },
}
MAPS["custom_credentials"] = MAPS["kv"]
BESIDE: dict[str, Any] = {
    "created_at": "2026-11-18T16:00:59+02:00",
    "updated_at": "2026-11-18T16:00:59.123456Z",
    "retrieved_at": "no moment",
    "labels": ["a", "b"],
    "custom_metadata": {"created_at": "2026-11-18T16:00:59Z", "n": 1e6},
    "downloaded": True,
    "locks_total": 20.0,
    "description": None,
    "alt_names": [],
    "rotation": {"auto_rotate": False, "interval": 1.0},
    "validity": {"not_after": "2026-11-18T16:00:59Z"},
}
SHOWN = {
    "created_at": "2026-11-18T14:00:59.000Z",
    "updated_at": "2026-11-18T16:00:59.123Z",
    "retrieved_at": "no moment",
    "labels": "[a b]",
    "custom_metadata": "map[created_at:2026-11-18T16:00:59Z n:1e+06]",
    "downloaded": "true",
    "locks_total": "20",
    "rotation": "map[auto_rotate:false interval:1]",
    "validity": "map[not_after:2026-11-18T16:00:59.000Z]",
    "name": "it",
}


@pytest.mark.parametrize("kind", list(FIELDS))
def test_maps(kind: str) -> None:
    found = fields_of(payload(kind, **BESIDE), RemoteRef(f"{kind}/{ID}"), Work())

    assert {name: value.raw.decode() for name, value in found.items()} == MAPS[kind]


@pytest.mark.parametrize("kind", list(FIELDS))
def test_maps_with_metadata(kind: str) -> None:
    found = fields_of(payload(kind, **BESIDE), RemoteRef(f"{kind}/{ID}", metadata=True), Work())
    texts = {name: value.raw.decode() for name, value in found.items()}

    assert texts.items() >= {**SHOWN, "secret_type": kind, **MAPS[kind]}.items()
    assert texts.keys() == {*SHOWN, "secret_type", *MAPS[kind], *FIELDS[kind]}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("keyC", {"keyC1": "valC1", "keyC2": '{"a":"b"}'}, id="a member"),
        pytest.param("keyC.keyC2", {"a": "b"}, id="a path"),
    ],
)
def test_a_map_in_a_document(name: str, expected: dict[str, str]) -> None:
    found = fields_of(payload("kv"), RemoteRef(f"kv/{ID}", name), Work())
    assert {key: value.raw.decode() for key, value in found.items()} == expected


@pytest.mark.parametrize(
    ("kind", "key", "name", "expected"),
    [
        *(
            pytest.param(
                kind, f"{kind}/{ID}", "", f"remoteRef.property required for secret type {kind}", id=kind
            )
            for kind in ("username_password", "imported_cert", "public_cert", "private_cert")
        ),
        pytest.param(
            "kv", f"kv/{ID}", "other-key", f"key other-key does not exist in secret kv/{ID}", id="kv: no key"
        ),
        pytest.param(
            "public_cert",
            f"g/public_cert/{ID}",
            "csr",
            f"key csr does not exist in secret g/public_cert/{ID}",
            id="no such field",
        ),
        pytest.param(
            "private_cert",
            f"private_cert/{ID}",
            "ca_chain",
            f"key ca_chain of secret private_cert/{ID} is no text",
            id="a list",
        ),
        pytest.param("kv", ID, "", f"key payload does not exist in secret {ID}", id="not arbitrary"),
        pytest.param(
            "arbitrary",
            f"kv/{ID}",
            "",
            f"unable to extract the fetched secret {ID} of type kv",
            id="not key-value",
        ),
    ],
)
def test_values_that_are_not_there(kind: str, key: str, name: str, expected: str) -> None:
    with pytest.raises(Malformed) as caught:
        value_of(payload(kind), RemoteRef(key, name), Work())
    assert caught.value.message == expected


@pytest.mark.parametrize(
    ("found", "ref", "expected"),
    [
        pytest.param(
            payload("iam_credentials", api_key="absent", state_description="destroyed"),
            RemoteRef(f"iam_credentials/{ID}"),
            (f"key api_key does not exist in secret {ID}", "it has expired"),
            id="destroyed",
        ),
        pytest.param(
            payload("public_cert", intermediate=None),
            RemoteRef(f"public_cert/{ID}"),
            (f"key intermediate does not exist in secret {ID}", ""),
            id="a public certificate without an intermediate",
        ),
        pytest.param(
            payload("kv"),
            RemoteRef(f"g/username_password/{ID}"),
            (
                f"key username does not exist in secret {ID}",
                "it is of type kv: write that before its name",
            ),
            id="another type",
        ),
        pytest.param(
            payload("arbitrary", secret_type="canary", payload="absent"),
            RemoteRef(ID),
            (f"key payload does not exist in secret {ID}", ""),
            id="an unknown type",
        ),
        pytest.param(
            payload("kv"),
            RemoteRef(f"kv/{ID}", "key1"),
            (
                "unable to unmarshal secret from JSON: failed to unmarshal JSON: invalid syntax",
                "a property of extract leads to a JSON object",
            ),
            id="a text where an object is wanted",
        ),
    ],
)
def test_maps_that_are_not_there(found: Fields, ref: RemoteRef, expected: tuple[str, str]) -> None:
    with pytest.raises(Malformed) as caught:
        fields_of(found, ref, Work())
    assert (caught.value.message, caught.value.hint) == expected
    assert caught.value.__context__ is None
