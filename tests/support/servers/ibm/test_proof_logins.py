"""IBM's authenticators work on the server. Nothing of syncret takes part."""

import asyncio
import time
from pathlib import Path

from tests.support.servers.ibm.sdk import authenticators, client, refused, sm
from tests.support.servers.ibm.server import Ibm


async def test_an_api_key(cloud: Ibm) -> None:
    def script() -> None:
        service = client(cloud)
        for _ in range(3):
            service.list_secrets()
        assert cloud.identity.logins == ["iam-ServiceId-sdk"], "the token is kept"

        wrong = authenticators.IAMAuthenticator("no-such-key", url=cloud.url)
        with refused(400):
            client(cloud, wrong).list_secrets()
        cloud.identity.void.add("iam-ServiceId-sdk")
        with refused(401, "unauthorized"):
            service.list_secrets()

    await asyncio.to_thread(script)


async def test_a_token_ends(cloud: Ibm) -> None:
    def script() -> None:
        service = client(cloud)
        cloud.identity.now = lambda: time.time() - 7200
        service.list_secrets()
        before = len(cloud.identity.logins)
        cloud.identity.now = time.time
        service.list_secrets()
        assert len(cloud.identity.logins) == before + 1, "the client has seen in the token that it is over"

        bearer = authenticators.BearerTokenAuthenticator(cloud.identity.issued[0])
        with refused(401, "unauthorized"):
            client(cloud, bearer).list_secrets()

    await asyncio.to_thread(script)


async def test_a_trusted_profile(cloud: Ibm, tmp_path: Path) -> None:
    profile = cloud.profile("reader", ("c1", "team", "app"))

    def script() -> None:
        def listed(token: str, **named: str) -> None:
            (tmp_path / "token").write_text(token)
            authenticator = authenticators.ContainerAuthenticator(
                cr_token_filename=str(tmp_path / "token"), url=cloud.url, **named
            )
            client(cloud, authenticator).list_secrets()

        good = cloud.identity.compute_token("c1", "team", "app")
        listed(good, iam_profile_name="reader")
        listed(good, iam_profile_id=profile.id)
        assert cloud.identity.logins == [f"iam-{profile.id}"] * 2
        for token, name in (
            (good, "other"),
            (good[:-8] + "AAAAAAAA", "reader"),
            (cloud.identity.compute_token("c1", "team", "other"), "reader"),
            (cloud.identity.compute_token("c2", "team", "app"), "reader"),
            (cloud.identity.compute_token("c1", "team", "app", audience="sts"), "reader"),
            (cloud.identity.compute_token("c1", "team", "app", seconds=-10), "reader"),
        ):
            with refused(400):
                listed(token, iam_profile_name=name)

    await asyncio.to_thread(script)


async def test_who_may_do_what(cloud: Ibm) -> None:
    group = cloud.manager.group("team")
    theirs = cloud.manager.seed("arbitrary", "theirs", payload="x")
    ours = cloud.manager.seed("arbitrary", "ours", group.id, payload="x")

    def script() -> None:
        service = client(
            cloud, authenticators.IAMAuthenticator(cloud.service("few", [group.id]), url=cloud.url)
        )
        assert service.get_secret(id=ours.id).get_result()["payload"] == "x"
        assert [each["name"] for each in sm.SecretsPager(client=service).get_all()] == ["ours"]
        with refused(403, "forbidden"):
            service.get_secret(id=theirs.id)
        stranger = authenticators.IAMAuthenticator(cloud.identity.api_key("iam-stranger"), url=cloud.url)
        with refused(403, "forbidden"):
            client(cloud, stranger).list_secrets()

    await asyncio.to_thread(script)
