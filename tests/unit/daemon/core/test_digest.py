"""Fingerprints equal those that are in clusters already."""

import pytest

from syncret.config.fields import Json
from syncret.daemon.core.digest import data_hash, metadata_hash, text_hash, value_hash


def test_of_data() -> None:
    data = {"foo": b"value1", "bar": b"value2"}

    assert data_hash(data) == "1bed8bcbcb4547ffe19a19cd47d9078e84aa6598266d86b99f992d64"
    assert data_hash({}) == "74a974446e359fb3e6baff9bd0058950e6edd0f040888d9989b0a11b"
    assert data_hash({"b": b"\x00\xff"}) == "33ff804f7ccfe822a58e2280d2d276b3ca74ae698df95cb41029efb5"


def test_of_text() -> None:
    assert text_hash("default/test-es") == "a8e09351ea392b727f69f63683b28619fbed1174f572e728706a9ea8"


def test_of_labels_and_annotations() -> None:
    expected = text_hash("{annotations:map[a:1 b:2] labels:map[]}")

    assert metadata_hash({}, {"b": "2", "a": "1"}) == expected
    assert metadata_hash({"a": "1", "b": "2"}, {}) != expected


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        pytest.param({"b": [1, "a", None], "a": {}}, "map[a:map[] b:[1 a <nil>]]", id="nested"),
        pytest.param([True, False], "[true false]", id="truth"),
        pytest.param([1.0, 0.1, 100000.0, 0.0], "[1 0.1 100000 0]", id="plain numbers"),
        pytest.param([1e6, 123456789.5, 1e21, 1e-5], "[1e+06 1.234567895e+08 1e+21 1e-05]", id="exponents"),
        pytest.param(100000000, "100000000", id="whole numbers have none"),
    ],
)
def test_of_values(value: Json, printed: str) -> None:
    assert value_hash(value) == text_hash(printed)
