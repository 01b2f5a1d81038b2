"""The authority of the tests' 1Password: its SDK trusts what is in a file that the environment names."""

import os
import ssl
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from tests.support.tls import Authority

_AUTHORITY: Final = Authority()


@cache
def _folder() -> Path:
    """Files that stay for as long as the process: the SDK may read them once, or each time."""
    folder = Path(tempfile.mkdtemp(prefix="syncret-onepassword-"))
    (folder / "ca.pem").write_bytes(_AUTHORITY.pem)
    return folder


def trusted(monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """The context of a server that the SDK trusts from here on."""
    monkeypatch.setenv("SSL_CERT_FILE", os.fspath(_folder() / "ca.pem"))
    return _AUTHORITY.server(_folder())
