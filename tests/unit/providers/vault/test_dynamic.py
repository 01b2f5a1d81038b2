"""The generator VaultDynamicSecret, on answers that Vault gives on some paths only."""

import msgspec
import pytest
from aiohttp import web

from syncret.config.meta import Document
from syncret.providers.errors import Malformed
from syncret.providers.vault.dynamic_secret import DYNAMIC_SECRET, VaultDynamicSecretSpec
from tests.support.opened import Given, context
from tests.support.served import all_to, served

_TOKENS = {"access_token": "a", "expires_in": 3600}


async def draw(answer: Document, **more: object) -> dict[str, bytes]:
    """What is generated of an answer of the server."""

    async def handle(_request: web.Request) -> web.StreamResponse:
        return web.json_response(answer)

    async with served(all_to(handle)) as url:
        provider = {"server": url, "auth": {"tokenSecretRef": {"name": "t", "key": "t"}}}
        spec = msgspec.convert({"provider": provider, "path": "p", **more}, VaultDynamicSecretSpec)
        assert DYNAMIC_SECRET.generate is not None
        drawn = await DYNAMIC_SECRET.generate(spec, context(Given(secrets={"t": {"t": b"token"}})))
    return {key: value.raw for key, value in drawn.values.items()}


@pytest.mark.parametrize(
    ("answer", "values"),
    [
        pytest.param(_TOKENS, {"access_token": b"a", "expires_in": b"3600"}, id="no envelope"),
        pytest.param(
            {"request_id": "", "lease_duration": 0, "renewable": False, "data": None, "a": "b"},
            {"a": b"b", "request_id": b"", "lease_duration": b"0", "renewable": b"false", "data": b""},
            id="an envelope without content",
        ),
        pytest.param({"request_id": "1", "a": "b"}, {}, id="an envelope without data"),
        pytest.param({"data": {}, "a": "b"}, {}, id="data without members"),
    ],
)
async def test_an_answer_without_an_envelope_is_data(answer: Document, values: dict[str, bytes]) -> None:
    assert await draw(answer) == values


async def test_an_answer_without_an_envelope_is_the_data_of_everything() -> None:
    found = await draw(_TOKENS, resultType="Raw")

    assert (found["data"], found["request_id"]) == (b'{"access_token":"a","expires_in":3600}', b"")


async def test_errors_alone_are_an_empty_answer() -> None:
    with pytest.raises(Malformed, match="empty response"):
        await draw({"errors": ["x"]})

    assert await draw({"errors": ["x"]}, allowEmptyResponse=True) == {}


async def test_errors_beside_something_else_are_errors() -> None:
    with pytest.raises(Malformed, match="answers with errors"):
        await draw({"errors": ["x"], "a": "b"}, allowEmptyResponse=True)


async def test_everything_has_the_fields_of_the_operator() -> None:
    auth = {"client_token": "t", "num_uses": 0, "token_type": "service"}
    found = await draw({"request_id": "1", "mount_type": "kv", "auth": auth}, resultType="Raw")

    assert found["mount_type"] == b"kv"
    assert b"client_token" in found["auth"]
    assert b"num_uses" not in found["auth"]
