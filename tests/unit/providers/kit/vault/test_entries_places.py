"""Which path a remote key means: every spelling that ESO's stores know leads to one entry."""

import pytest

from syncret.providers.errors import Malformed
from syncret.providers.kit.vault.entries import Engine, Version, joined


@pytest.mark.parametrize(
    ("mount", "version", "key", "value", "metadata"),
    [
        pytest.param("kv", "v2", "a/b", "kv/data/a/b", "kv/metadata/a/b", id="plain"),
        pytest.param("kv", "v2", "kv/a", "kv/data/a", "kv/metadata/a", id="with the mount"),
        pytest.param("kv", "v2", "kv/data/a", "kv/data/a", "kv/metadata/a", id="with mount and data"),
        pytest.param("kv", "v2", "data/a", "kv/data/data/a", "kv/metadata/data/a", id="a folder called data"),
        pytest.param("team/kv", "v2", "a", "team/kv/data/a", "team/kv/metadata/a", id="a mount of two parts"),
        pytest.param("kv", "v1", "a/b", "kv/a/b", "kv/a/b", id="v1"),
        pytest.param("kv", "v1", "kv/data/a", "kv/data/a", "kv/data/a", id="v1 knows no data"),
        pytest.param("", "v2", "kv/a/b", "kv/data/a/b", "kv/metadata/a/b", id="the mount begins the key"),
        pytest.param("", "v2", "t/kv/data/a", "t/kv/data/a", "t/kv/metadata/a", id="data parts the key"),
        pytest.param("", "v1", "kv/a", "kv/a", "kv/a", id="v1: the key is the path"),
    ],
)
def test_a_key_means_a_place(mount: str, version: Version, key: str, value: str, metadata: str) -> None:
    engine = Engine(mount, version)

    assert (engine.value_path(key), engine.metadata_path(key)) == (value, metadata)


def test_a_literal_engine_takes_keys_as_they_are() -> None:
    assert Engine("kv", "v2", literal=True).value_path("kv/data/a") == "kv/data/kv/data/a"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        pytest.param(("a//b/", "", "/c"), "a/b/c", id="empty segments vanish"),
        pytest.param(("kv", "a b/c?d#e%"), "kv/a%20b/c%3Fd%23e%25", id="quoted"),
        pytest.param(("kv", "ä"), "kv/%C3%A4", id="UTF-8"),
    ],
)
def test_a_path_is_quoted(parts: tuple[str, ...], expected: str) -> None:
    assert joined(*parts) == expected


@pytest.mark.parametrize("key", ["../sys/mounts", "a/../../b", "a/./b", ".."])
def test_a_key_is_never_a_way_out_of_its_engine(key: str) -> None:
    with pytest.raises(Malformed, match="segments"):
        Engine("kv", "v2").value_path(key)
