"""Logins to Google by a key: how tokens are held and renewed."""

import asyncio

import pytest
from aiohttp import web

from syncret.providers.errors import Denied, Malformed, SyncError
from syncret.providers.values import RemoteKey, RemoteRef
from tests.support.opened import Clock, Given
from tests.support.servers.google.identity import HOUR
from tests.support.servers.google.server import Google
from tests.unit.providers.gcpsm.logins import reads
from tests.unit.providers.gcpsm.stores import BY_KEY, opened, read

pytestmark = pytest.mark.usefixtures("seeded")


async def test_one_login_serves_all_who_come(cloud: Google, given: Given, clock: Clock) -> None:
    async with opened(given, clock) as client:
        cloud.identity.expire_tokens()
        answers = await asyncio.gather(*(client.fetch([RemoteKey("db")]) for _ in range(100)))

    assert all(not isinstance(answer[RemoteKey("db")], SyncError) for answer in answers)
    assert len(cloud.identity.logins) == 2


async def test_a_token_is_renewed_before_its_end(cloud: Google, given: Given, clock: Clock) -> None:
    async with opened(given, clock) as client:
        clock.time += HOUR - 120
        await read(client, RemoteRef("db"))
        before = len(cloud.identity.logins)
        clock.time += 90
        await read(client, RemoteRef("db"))

    assert (before, len(cloud.identity.logins)) == (1, 2)


async def test_a_key_that_is_deleted(cloud: Google, given: Given, clock: Clock) -> None:
    async with opened(given, clock) as client:
        cloud.identity.disable_keys("app@acme.iam.gserviceaccount.com")
        with pytest.raises(Denied) as caught:
            await read(client, RemoteRef("db"))

    assert caught.value.message == (
        "logging in by auth.secretRef: logging in as app@acme.iam.gserviceaccount.com: "
        "Google refuses the login (HTTP 400, invalid_grant)"
    )
    assert caught.value.hint.startswith("check the key file in auth.secretRef.secretAccessKeySecretRef: ")
    assert "deleted or expired" in caught.value.hint


async def test_a_token_that_is_not_accepted(cloud: Google, given: Given, clock: Clock) -> None:
    async with opened(given, clock) as client:
        unauthenticated = web.json_response({"error": {"code": 401, "status": "UNAUTHENTICATED"}}, status=401)

        def refuse(request: web.Request) -> web.StreamResponse | None:
            if not request.path.endswith(":access"):
                return None
            return web.Response(body=unauthenticated.body, status=401)

        with cloud.failing(refuse), pytest.raises(Denied, match="401"):
            await read(client, RemoteRef("db"))

    assert len(cloud.identity.logins) == 2, "another login was tried, once"


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(b"canary-8e", id="no JSON"),
        pytest.param(b'{"type":"authorized_user","client_email":"a","private_key":"canary-8e"}', id="type"),
        pytest.param(b'{"type":"service_account","client_email":"a"}', id="no key"),
        pytest.param(
            b'{"type":"service_account","client_email":"a","private_key":"canary-8e"}', id="a broken key"
        ),
    ],
)
async def test_what_is_no_key_file(cloud: Google, clock: Clock, document: bytes) -> None:
    with pytest.raises(Malformed, match="holds no key file") as caught:
        await reads(Given(secrets={"key": {"key.json": document}}), clock, BY_KEY)

    assert "canary" not in repr(caught.value) + str(vars(caught.value)) + repr(caught.value.__context__)


async def test_a_key_needs_a_project(cloud: Google, given: Given, clock: Clock) -> None:
    with pytest.raises(Malformed, match="unable to find ProjectID"):
        await reads(given, clock, BY_KEY, project_id=None)
