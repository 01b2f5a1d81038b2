"""Compressed bodies, which are not asked for: they are read in small steps, or refused."""

import gzip
import zlib

import pytest

from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.kit.http.encodings import inflater

STEP = 100
TEXT = b"canary " * 1000


def raw(data: bytes) -> bytes:
    """As some servers send `deflate`: without a header."""
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def inflated(encoding: str, data: bytes, *, at_once: int) -> bytes:
    """The body, if so many bytes of it are received at once."""
    inflate = inflater(encoding, step=STEP)
    assert inflate is not None
    pieces: list[bytes] = []
    for start in range(0, len(data), at_once):
        pieces += inflate.pieces(data[start : start + at_once])
    assert max(map(len, pieces)) <= STEP
    return b"".join(pieces) + inflate.end()


@pytest.mark.parametrize("at_once", [1, 7, 10_000])
@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        pytest.param("gzip", gzip.compress(TEXT), id="gzip"),
        pytest.param("X-GZIP", gzip.compress(TEXT[:500]) + gzip.compress(TEXT[500:]), id="in two members"),
        pytest.param("deflate", zlib.compress(TEXT), id="deflate"),
        pytest.param("deflate", raw(TEXT), id="deflate without a header"),
        pytest.param("gzip", gzip.compress(TEXT, compresslevel=0), id="stored"),
    ],
)
def test_a_compressed_body(encoding: str, data: bytes, at_once: int) -> None:
    assert inflated(encoding, data, at_once=at_once) == TEXT


@pytest.mark.parametrize("encoding", ["", "identity", " Identity"])
def test_nothing_to_undo(encoding: str) -> None:
    assert inflater(encoding, step=STEP) is None


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "canary"])
def test_an_encoding_that_was_not_asked_for(encoding: str) -> None:
    with pytest.raises(Malformed, match="compressed in a way that was not asked for") as caught:
        inflater(encoding, step=STEP)
    assert caught.value.hint
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(TEXT, id="not compressed"),
        pytest.param(gzip.compress(TEXT)[:-9], id="cut off"),
        pytest.param(gzip.compress(TEXT) + b"more", id="something else behind it"),
        pytest.param(gzip.compress(TEXT)[:-8] + b"checksum", id="a wrong checksum"),
    ],
)
def test_a_damaged_body(data: bytes) -> None:
    with pytest.raises(Unavailable, match="the answer is damaged"):
        inflated("gzip", data, at_once=50)


def test_an_empty_body() -> None:
    inflate = inflater("gzip", step=STEP)
    assert inflate is not None
    assert (list(inflate.pieces(b"")), inflate.end()) == ([], b"")
