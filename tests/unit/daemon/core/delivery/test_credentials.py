"""Credentials that systemd asks for: the name of the other end, who is meant, what a unit would not take."""

import pytest

from syncret.daemon.core.delivery.assemble import SetFile, SourceMissing, Unfit
from syncret.daemon.core.delivery.credentials import (
    MOST_BYTES,
    REFUSAL,
    Asked,
    asked_by,
    credentials,
    is_among,
)

APP = Asked("app.service", "db-password")


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        pytest.param(b"\0" + b"9f0e5a1f2e3d4c5b/unit/app.service/db-password", APP, id="16 digits"),
        pytest.param(b"\0" + b"f0e5a1f2e3d4c5b/unit/app.service/db-password", APP, id="15 digits"),
        pytest.param("\0" + "1/unit/app.service/db-password", APP, id="as text"),
        pytest.param(
            b"\0" + b"1/unit/a\\x2db@x:1.service/x.y_z",
            Asked("a\\x2db@x:1.service", "x.y_z"),
            id="an instance",
        ),
        pytest.param(b"1/unit/app.service/db-password", None, id="a path"),
        pytest.param(b"", None, id="no name"),
        pytest.param(b"\0" + b"1/system/app.service/db-password", None, id="not of a unit"),
        pytest.param(b"\0" + b"x/unit/app.service/db-password", None, id="no number"),
        pytest.param(b"\0" + b"12345678901234567/unit/app.service/x", None, id="17 digits"),
        pytest.param(b"\0" + b"1/unit/app.service", None, id="no credential"),
        pytest.param(b"\0" + b"1/unit/app.service/x/y", None, id="a part more"),
        pytest.param(b"\0" + b"1/unit//x", None, id="no unit"),
        pytest.param(b"\0" + b"1/unit/app.service/x\n", None, id="a line feed"),
        pytest.param(b"\0" + b"1/cryptsetup/volume/x", None, id="a volume"),
        pytest.param(b"\0" + b"1/unit/\xff.service/x", None, id="no text"),
    ],
)
def test_the_name_of_the_other_end(name: bytes | str, asked: Asked | None) -> None:
    assert asked_by(name) == asked


@pytest.mark.parametrize(
    ("unit", "units", "expected"),
    [
        pytest.param("app.service", ["app.service"], True, id="itself"),
        pytest.param("app.service", ["other.service"], False, id="another"),
        pytest.param("app@1.service", ["app@*.service"], True, id="an instance"),
        pytest.param("app@1@2.service", ["app@*.service"], True, id="an instance with an at sign"),
        pytest.param("app@1.service", ["app@2.service"], False, id="another instance"),
        pytest.param("app@.service", ["app@*.service"], False, id="the template"),
        pytest.param("app2@1.service", ["app@*.service"], False, id="a longer name"),
        pytest.param("app@1.mount", ["app@*.service"], False, id="another type"),
        pytest.param("app.service", ["app@*.service"], False, id="no instance"),
    ],
)
def test_units_that_are_meant(unit: str, units: list[str], *, expected: bool) -> None:
    assert is_among(unit, units) is expected


def files(**values: bytes) -> dict[str, SetFile]:
    return {name: SetFile(content=value, source="Secret/db", key=name) for name, value in values.items()}


def test_each_file_becomes_its_credential() -> None:
    found = credentials("at", {"password": "db-password"}, files(password=b"1", user=b"2"))
    assert found == {"db-password": b"1"}


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        pytest.param({"b": b"1"}, SourceMissing, 'at.names: no source gives "a"', id="absent"),
        pytest.param({"a": b""}, Unfit, 'at: key "a" is empty', id="empty"),
        pytest.param({"a": bytes(MOST_BYTES)}, Unfit, 'at: key "a" has 1,048,576 bytes', id="too large"),
    ],
)
def test_what_no_unit_would_start_with(values: dict[str, bytes], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        credentials("at", {"a": "x"}, files(**values))
    assert str(caught.value).startswith(text)


def test_the_largest_value_and_the_refusal_are_on_either_side_of_the_limit() -> None:
    largest = credentials("at", {"a": "x"}, files(a=bytes(MOST_BYTES - 1)))
    assert len(largest["x"]) + len("x") == MOST_BYTES
    assert len(REFUSAL) == MOST_BYTES + 1
