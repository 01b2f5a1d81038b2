"""The host home: credentials of systemd."""

from base64 import b64encode
from pathlib import Path

import pytest

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import Invalid
from syncret.daemon.homes.filesystem.state.database import read_state
from tests.unit.daemon.homes.filesystem.homes import (
    VALUE,
    Opener,
    Problems,
    data_of,
    encoded,
    existing,
    files,
)


@pytest.fixture
def credentials(tmp_path: Path) -> Path:
    folder = tmp_path / "credentials"
    folder.mkdir()
    (folder / "vault.token").write_text(VALUE)
    (folder / "vault.ca.crt").write_text("ca")
    (folder / "other").write_text("not ours")
    return folder


async def test_credentials_are_secrets_that_are_written_nowhere(
    opened: Opener, credentials: Path, tmp_path: Path, problems: Problems
) -> None:
    ref = ObjectRef("", "Secret", "default", "vault")
    async with opened(credentials=str(credentials)) as home:
        assert await data_of(home, ref) == encoded(**{"token": VALUE, "ca.crt": "ca"})
        assert not problems.last
        vault = (await existing(home, ref)).document
        with pytest.raises(Invalid, match="credential"):
            await home.update({**vault, "data": encoded(x="1")})
        (credentials / "vault.token").write_text("renewed")
        await home.look()
        assert (await data_of(home, ref))["token"] == b64encode(b"renewed").decode()
    assert ref not in dict(read_state(str(tmp_path / "state.db")).rows)
    assert files(tmp_path / "out") == {}


async def test_a_credential_that_is_misnamed_is_told(
    opened: Opener, credentials: Path, problems: Problems
) -> None:
    (credentials / "Vault_2.token").write_text("x")
    async with opened(credentials=str(credentials)):
        assert "call it <secret>.<key>" in str(problems)
