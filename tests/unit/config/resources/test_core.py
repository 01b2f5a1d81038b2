import pytest

from syncret.config.meta import Document
from syncret.config.resources.core import stored_data
from syncret.config.schema.admission import admit
from tests.unit.config.support import CATALOG, core, messages

BIG = "AAAA" * (1024 * 1024 // 3 + 1)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(core("Secret", stringData={"a": "text"}), [], id="texts"),
        pytest.param(core("Secret", data={"a": "no base64"}), ["data.a: must be base64"], id="no base64"),
        pytest.param(
            core("Secret", stringData={"a": 1}),
            ["stringData.a: must be a string, not an integer"],
            id="number",
        ),
        pytest.param(
            core("Secret", data={"../../etc/passwd": ""}),
            ['data["../../etc/passwd"]: must match ^[-._a-zA-Z0-9]+$'],
            id="path",
        ),
        pytest.param(
            core("Secret", stringData={"a\0b": ""}),
            ['stringData["a\0b"]: must match ^[-._a-zA-Z0-9]+$'],
            id="nul",
        ),
        pytest.param(
            core("Secret", data={"..": ""}),
            ["data[\"..\"]: a key must not be '.' or begin with '..'"],
            id="dots",
        ),
        pytest.param(
            core("Secret", data={"a": BIG}), ["data: must have at most 1048576 bytes in all"], id="large"
        ),
        pytest.param(core("Secret", dota={}), ["?dota: unknown field, it is dropped"], id="unknown field"),
        pytest.param(
            core("Secret", type="kubernetes.io/tls", stringData={"tls.crt": "x"}),
            ['data["tls.key"]: is required by type kubernetes.io/tls'],
            id="tls",
        ),
        pytest.param(
            core("Secret", type="kubernetes.io/dockerconfigjson", stringData={".dockerconfigjson": "x"}),
            [
                (
                    'data[".dockerconfigjson"]: must be a JSON object, as required by type '
                    "kubernetes.io/dockerconfigjson"
                )
            ],
            id="docker",
        ),
        pytest.param(
            core("Secret", type="kubernetes.io/dockerconfigjson", stringData={".dockerconfigjson": "{}"}),
            [],
            id="docker ok",
        ),
        pytest.param(
            core("Secret", type="kubernetes.io/dockercfg", stringData={".dockercfg": "[]"}),
            ['data[".dockercfg"]: must be a JSON object, as required by type kubernetes.io/dockercfg'],
            id="docker list",
        ),
        pytest.param(
            core("Secret", type="kubernetes.io/ssh-auth", data={"ssh-privatekey": None}),
            ["data.ssh-privatekey: must not be empty, as required by type kubernetes.io/ssh-auth"],
            id="empty key",
        ),
        pytest.param(core("Secret", data={"a": None, "b": "Y\nQ=="}), [], id="null and two lines"),
        pytest.param(core("Secret", status={}), ["?status: unknown field, it is dropped"], id="status"),
        pytest.param(
            core("Namespace", spec=[]), ["spec: must be an object, not an array"], id="spec of a namespace"
        ),
        pytest.param(
            core("ServiceAccount", secrets=["a"], imagePullSecrets="b"),
            [
                "secrets[0]: must be an object, not a string",
                "imagePullSecrets: must be an array, not a string",
            ],
            id="secrets of an account",
        ),
        pytest.param(
            core("ConfigMap", data={"a": "é" * 524_289}),
            ["data: must have at most 1048576 bytes in all"],
            id="large ConfigMap",
        ),
        pytest.param(
            core("ConfigMap", data={"a": None}, binaryData={"a": "ZA=="}),
            ["binaryData.a: the key is in data, too"],
            id="null is a key",
        ),
        pytest.param(
            core("Secret", type="kubernetes.io/basic-auth"),
            ["data: username or password is required by type kubernetes.io/basic-auth"],
            id="basic",
        ),
        pytest.param(
            core("Secret", type="kubernetes.io/service-account-token"),
            [
                (
                    'metadata.annotations["kubernetes.io/service-account.name"]: is required by type '
                    "kubernetes.io/service-account-token"
                )
            ],
            id="token",
        ),
        pytest.param(core("ConfigMap", data={"a": "b"}, binaryData={"c": "ZA=="}), [], id="ConfigMap"),
        pytest.param(
            core("ConfigMap", data={"a": "b"}, binaryData={"a": "ZA=="}),
            ["binaryData.a: the key is in data, too"],
            id="ConfigMap twice",
        ),
    ],
)
def test_secrets_and_config_maps(given: Document, expected: list[str]) -> None:
    assert messages(admit(given, CATALOG).problems) == expected


def test_a_secret_has_a_type() -> None:
    admitted = admit(core("Secret"), CATALOG)
    assert admitted.document is not None
    assert admitted.document["type"] == "Opaque"


def test_texts_are_laid_over_data() -> None:
    given = core("Secret", data={"a": "QQ==", "b": "Qg=="}, stringData={"b": "c"})
    assert stored_data(given) == {"a": "QQ==", "b": "Yw=="}


FIXED = core("Secret", type="Opaque", data={"a": "QQ=="}, immutable=True)
FIXED_MAP = core("ConfigMap", data={"a": "b"}, binaryData={"c": "ZA=="}, immutable=True)


@pytest.mark.parametrize(
    ("previous", "given", "expected"),
    [
        pytest.param(FIXED, FIXED, [], id="same"),
        pytest.param(FIXED, core("Secret", stringData={"a": "A"}, immutable=True), [], id="same by text"),
        pytest.param(FIXED, {**FIXED, "metadata": {"name": "x", "labels": {"a": "b"}}}, [], id="metadata"),
        pytest.param(FIXED, {**FIXED, "data": {"a": "Qg=="}}, ["data"], id="data"),
        pytest.param(FIXED, {**FIXED, "immutable": False}, ["immutable"], id="not immutable any more"),
        pytest.param(FIXED, {**FIXED, "type": "own"}, ["type"], id="type"),
        pytest.param(core("Secret"), {**core("Secret"), "type": "own"}, ["type"], id="type is always fixed"),
        pytest.param(core("Secret"), core("Secret", stringData={"a": "b"}), [], id="mutable"),
        pytest.param(FIXED_MAP, FIXED_MAP, [], id="same map"),
        pytest.param(FIXED_MAP, {**FIXED_MAP, "data": {}}, ["data"], id="map data"),
        pytest.param(FIXED_MAP, {**FIXED_MAP, "binaryData": {}}, ["binaryData"], id="map binary data"),
    ],
)
def test_what_is_immutable_stays(previous: Document, given: Document, expected: list[str]) -> None:
    assert [problem.path for problem in admit(given, CATALOG, previous).problems] == expected
