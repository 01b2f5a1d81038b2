"""Digests of a text, in hexadecimal; Adler-32 as a number."""

import hashlib
import zlib
from typing import Final

from syncret.daemon.core.templating.functions.contract import FunctionTable, table
from syncret.daemon.core.templating.values import bytes_of


def sha1sum(text: str) -> str:
    return hashlib.sha1(bytes_of(text), usedforsecurity=False).hexdigest()


def sha256sum(text: str) -> str:
    return hashlib.sha256(bytes_of(text)).hexdigest()


def sha512sum(text: str) -> str:
    return hashlib.sha512(bytes_of(text)).hexdigest()


def adler32sum(text: str) -> str:
    return str(zlib.adler32(bytes_of(text)))


FUNCTIONS: Final[FunctionTable] = table(
    {
        "adler32sum": adler32sum,
        "sha1sum": sha1sum,
        "sha256sum": sha256sum,
        "sha512sum": sha512sum,
    }
)
