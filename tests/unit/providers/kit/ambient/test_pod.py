"""The token of the daemon's own ServiceAccount: issued where it can be, otherwise the mounted one."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from syncret.config.meta import ObjectRef
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.ambient import pod
from syncret.providers.kit.ambient.pod import account_of, own_account_token
from syncret.providers.values import SecretBytes
from tests.support.jwts import private_key, signed

MOUNTED = signed({"sub": "system:serviceaccount:team:daemon"}, private_key("daemon"), kid="test")


class ApiServer:
    """Issues tokens, unless it has an error or never answers."""

    def __init__(self, error: Exception | None = None, *, silent: bool = False) -> None:
        self.error = error
        self.silent = silent
        self.requests: list[tuple[ObjectRef, tuple[str, ...], int]] = []

    async def issue(self, account: ObjectRef, audiences: Sequence[str], seconds: int) -> IssuedToken:
        self.requests.append((account, tuple(audiences), seconds))
        if self.silent:
            await asyncio.Event().wait()
        if self.error is not None:
            raise self.error
        return IssuedToken(SecretBytes(b"issued"), 0.0)


@pytest.fixture
def mount(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text(f"{MOUNTED}\n")
    return tmp_path


@pytest.mark.parametrize(("audience", "requested"), [("", ()), ("vault", ("vault",))])
async def test_a_token_is_issued_for_ten_minutes(
    mount: Path, audience: str, requested: tuple[str, ...]
) -> None:
    server = ApiServer()
    token = await own_account_token(server.issue, audience, mount=mount)
    assert token.raw == b"issued"
    assert server.requests == [(ObjectRef("", "ServiceAccount", "team", "daemon"), requested, 600)]


async def test_the_mounted_token_serves_where_none_is_issued(
    mount: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pod, "_TIMEOUT", 0.0)
    for server in (
        ApiServer(Denied("may not")),
        ApiServer(Malformed("no API server")),
        ApiServer(silent=True),
    ):
        assert (await own_account_token(server.issue, "", mount=mount)).raw == MOUNTED.encode()
    (mount / "token").write_text("no-jwt")
    assert (await own_account_token(ApiServer().issue, "", mount=mount)).raw == b"no-jwt"


async def test_the_mounted_token_does_not_serve_for_another_audience(mount: Path) -> None:
    with pytest.raises(Denied, match='no token for the audience "vault" can be issued: may not') as caught:
        await own_account_token(ApiServer(Denied("may not")).issue, "vault", mount=mount)
    assert "serviceaccounts/token" in caught.value.hint


async def test_outside_of_a_pod(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match="service account token file"):
        await own_account_token(ApiServer().issue, "", mount=tmp_path)


@pytest.mark.parametrize(
    "claims",
    [
        pytest.param({}, id="no-subject"),
        pytest.param({"sub": "ada"}, id="no-account"),
        pytest.param({"sub": "system:serviceaccount::x"}, id="no-namespace"),
        pytest.param({"sub": 1}, id="wrong-type"),
    ],
)
def test_tokens_of_others(claims: dict[str, object]) -> None:
    assert account_of(SecretBytes(signed(claims, private_key("daemon"), kid="test").encode())) is None


@pytest.mark.parametrize("text", [b"", b"a.b.c", b"a.b", b"....", b"\xff.\xff.\xff"])
def test_what_is_no_token(text: bytes) -> None:
    assert account_of(SecretBytes(text)) is None
