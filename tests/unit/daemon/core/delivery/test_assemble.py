"""The set of a Delivery, from its sources: whole, or not at all."""

from base64 import b64encode

import pytest

from syncret.config.fields import LabelSelector
from syncret.config.meta import Document
from syncret.config.resources.delivery.delivery import DeliverySource, DeliverySpec
from syncret.daemon.core.delivery.assemble import (
    Objects,
    SourceMissing,
    Unfit,
    assemble,
    chosen,
    set_digest,
)


def secret(name: str, data: dict[str, bytes], **labels: str) -> Document:
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "labels": labels},
        "data": {key: b64encode(value).decode() for key, value in data.items()},
    }


OBJECTS = Objects(
    secrets={
        "tls": secret("tls", {"tls.crt": b"cert", "tls.key": b"key"}, app="web"),
        "db": secret("db", {"password": b"\x00\xff"}, app="web"),
        "other": secret("other", {"password": b"2"}),
    },
    config_maps={
        "ca": {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "ca"},
            "data": {"ca.crt": "ä"},
            "binaryData": {"store": "AP8="},
        }
    },
)
WEB = LabelSelector(match_labels={"app": "web"})


def spec(*sources: DeliverySource) -> DeliverySpec:
    return DeliverySpec(sources=sources, to=())


def contents(*sources: DeliverySource) -> dict[str, bytes]:
    return {name: each.content for name, each in assemble(spec(*sources), OBJECTS).items()}


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        pytest.param([DeliverySource(secret="tls")], {"tls.crt": b"cert", "tls.key": b"key"}, id="all keys"),
        pytest.param(
            [DeliverySource(secret="tls", keys={"tls.crt": "server.pem"}, prefix="a-")],
            {"a-server.pem": b"cert"},
            id="renamed",
        ),
        pytest.param([DeliverySource(secret="tls", keys=["tls.key"])], {"tls.key": b"key"}, id="listed"),
        pytest.param(
            [DeliverySource(config_map="ca")], {"ca.crt": "ä".encode(), "store": b"\x00\xff"}, id="config map"
        ),
        pytest.param(
            [DeliverySource(selector=WEB, prefix="w-")],
            {"w-password": b"\x00\xff", "w-tls.crt": b"cert", "w-tls.key": b"key"},
            id="selected",
        ),
        pytest.param(
            [DeliverySource(secret="none", optional=True), DeliverySource(secret="db")],
            {"password": b"\x00\xff"},
            id="optional",
        ),
    ],
)
def test_files_come_from_sources(sources: list[DeliverySource], expected: dict[str, bytes]) -> None:
    assert contents(*sources) == expected


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        pytest.param(
            [DeliverySource(secret="no")], r"spec\.sources\[0\]: there is no Secret no$", id="secret"
        ),
        pytest.param([DeliverySource(config_map="no")], "there is no ConfigMap no$", id="config map"),
        pytest.param([DeliverySource(secret="db", keys=["user"])], 'Secret/db has no key "user"', id="key"),
        pytest.param(
            [DeliverySource(secret="no", optional=True)], "none of them exists", id="nothing at all"
        ),
        pytest.param(
            [DeliverySource(selector=LabelSelector(match_labels={"x": "y"}))], "none of them", id="no match"
        ),
    ],
)
def test_what_is_missing_is_waited_for(sources: list[DeliverySource], message: str) -> None:
    with pytest.raises(SourceMissing, match=message):
        assemble(spec(*sources), OBJECTS)


def test_an_optional_source_that_is_there_must_have_its_keys() -> None:
    with pytest.raises(SourceMissing, match='has no key "user"'):
        assemble(spec(DeliverySource(secret="db", keys=["user"], optional=True)), OBJECTS)


def test_two_sources_do_not_give_one_file() -> None:
    with pytest.raises(Unfit, match=r'sources\[1\]: "password" already comes from Secret/db') as caught:
        assemble(spec(DeliverySource(secret="db"), DeliverySource(secret="other")), OBJECTS)
    assert "give a prefix" in str(caught.value)


def test_a_set_is_bounded() -> None:
    many = Objects(secrets={"a": secret("a", {f"k{number}": b"" for number in range(257)})})
    with pytest.raises(Unfit, match="257 files with 0 bytes; at most 256"):
        assemble(spec(DeliverySource(secret="a")), many)
    large = Objects(secrets={name: secret(name, {name: b"x" * (1 << 20)}) for name in "abcde"})
    with pytest.raises(Unfit, match="5 files with 5,242,880 bytes"):
        assemble(spec(*(DeliverySource(secret=name) for name in "abcde")), large)
    alike = Objects(secrets={f"s{number}": secret(f"s{number}", {}, app="web") for number in range(257)})
    with pytest.raises(Unfit, match="257 Secrets match"):
        assemble(spec(DeliverySource(selector=WEB)), alike)


def test_a_folder_may_hold_some_of_the_files() -> None:
    files = assemble(spec(DeliverySource(secret="tls")), OBJECTS)
    assert chosen(files, []) == {"tls.crt": b"cert", "tls.key": b"key"}
    assert chosen(files, ["tls.key"]) == {"tls.key": b"key"}
    with pytest.raises(SourceMissing, match='no source gives "ca"'):
        chosen(files, ["ca"])


def test_a_digest_tells_sets_apart_and_no_value() -> None:
    one = set_digest(b"salt", {"/a": {"x": b"1", "y": b"2"}})
    assert len(one) == 12
    assert one == set_digest(b"salt", {"/a": {"y": b"2", "x": b"1"}})
    others = [
        set_digest(b"other", {"/a": {"x": b"1", "y": b"2"}}),
        set_digest(b"salt", {"/a": {"x": b"1y", "": b"2"}}),
        set_digest(b"salt", {"/a": {"x": b"1"}, "/b": {"y": b"2"}}),
        set_digest(b"salt", {"/b": {"x": b"1", "y": b"2"}}),
    ]
    assert len({one, *others}) == 5


def test_a_file_does_not_show_its_content() -> None:
    (file,) = assemble(spec(DeliverySource(secret="other")), OBJECTS).values()
    assert repr(file) == "<SetFile password of Secret/other>"
