"""Logins, keys, pushes and what is hidden, on a server written from Infisical's published reference."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from syncret.config.fields import Json
from syncret.providers.errors import Denied, Malformed, Throttled
from syncret.providers.infisical import PROVIDER, published_rate
from syncret.providers.infisical.client import InfisicalClient
from syncret.providers.infisical.connection import open_store
from syncret.providers.infisical.receivers import receivers
from syncret.providers.kit.batching import unpaced
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes
from syncret.providers.work import Work
from tests.support.opened import NOW, Given, context
from tests.support.servers.infisical.server import Infisical
from tests.support.servers.rest import running
from tests.support.specs import spec_of


@pytest.fixture
async def server() -> AsyncIterator[Infisical]:
    async with running(Infisical()) as server:
        server.secrets = {("/", "TOP"): "0", ("/web", "A"): "1", ("/web/deep", "A"): "2"}
        yield server


def selected(key: str) -> dict[str, Json]:
    return {"name": "login", "key": key}


def opened(
    server: Infisical,
    auth: dict[str, Json],
    *,
    environment: str = "prod",
    below: str = "/api",
    now: Callable[[], float] = lambda: NOW,
    **secrets: bytes,
) -> AbstractAsyncContextManager[InfisicalClient]:
    scope = {"projectSlug": "shop", "environmentSlug": environment, "secretsPath": "/web"}
    spec = spec_of(PROVIDER, {"hostAPI": f"{server.url}{below}", "auth": auth, "secretsScope": scope})
    return open_store(spec, context(Given(secrets={"login": {"id": b"i-1", **secrets}}), now=now))


def as_machine(
    server: Infisical, now: Callable[[], float] = lambda: NOW
) -> AbstractAsyncContextManager[InfisicalClient]:
    """A store that logs in with client credentials."""
    login: Json = {"clientId": selected("client"), "clientSecret": selected("secret")}
    secret = server.secret.encode()
    return opened(server, {"universalAuthCredentials": login}, now=now, client=b"shop", secret=secret)


def by_token(server: Infisical, below: str = "/api") -> AbstractAsyncContextManager[InfisicalClient]:
    return opened(server, TOKEN, below=below, token=server.token.encode())


TOKEN: dict[str, Json] = {"tokenAuthCredentials": {"accessToken": selected("token")}}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        pytest.param("A", b"1", id="of the store's folder"),
        pytest.param("deep/A", b"2", id="below it"),
        pytest.param("/web/deep/A", b"2", id="from the root"),
        pytest.param("/TOP", b"0", id="in the root"),
    ],
)
async def test_keys(server: Infisical, key: str, value: bytes) -> None:
    async with opened(server, TOKEN, token=server.token.encode()) as client:
        assert await client.fetch([RemoteKey(key)]) == {RemoteKey(key): SecretBytes(value)}


@pytest.mark.parametrize(
    ("auth", "method", "proof"),
    [
        pytest.param(
            {"jwtAuthCredentials": {"identityId": selected("id"), "jwt": selected("jwt")}},
            "jwt-auth",
            {"identityId": "i-1", "jwt": "j-1"},
            id="a JWT",
        ),
        pytest.param(
            {
                "ldapAuthCredentials": {
                    "identityId": selected("id"),
                    "ldapUsername": selected("user"),
                    "ldapPassword": selected("password"),
                }
            },
            "ldap-auth",
            {"identityId": "i-1", "username": "ada", "password": "p w "},
            id="LDAP",
        ),
        pytest.param(
            {
                "kubernetesAuthCredentials": {
                    "identityId": selected("id"),
                    "serviceAccountTokenPath": selected("path"),
                }
            },
            "kubernetes-auth",
            {"identityId": "i-1", "jwt": "mounted"},
            id="a ServiceAccount's token in a file",
        ),
    ],
)
async def test_logins(
    server: Infisical, tmp_path: Path, auth: dict[str, Json], method: str, proof: dict[str, str]
) -> None:
    server.proofs[method] = proof
    (tmp_path / "token").write_text("mounted\n")
    path = str(tmp_path / "token").encode()
    async with opened(server, auth, jwt=b"j-1\n", user=b"ada", password=b"p w ", path=path) as client:
        found = await client.fetch([RemoteKey("A")])

    assert found == {RemoteKey("A"): SecretBytes(b"1")}
    assert (server.logins, server.revoked) == ([method], [server.token])


async def test_a_store_that_names_no_login(server: Infisical) -> None:
    with pytest.raises(Malformed, match="authentication method not found"):
        async with opened(server, {}):
            pass


async def test_a_value_that_is_hidden_is_no_value(server: Infisical) -> None:
    server.hidden.add("A")
    async with opened(server, TOKEN, token=server.token.encode()) as client:
        [found] = (await client.fetch([RemoteKey("A")])).values()

    assert isinstance(found, Denied)


async def test_another_environment_is_no_absence(server: Infisical) -> None:
    async with opened(server, TOKEN, environment="dev", token=server.token.encode()) as client:
        [found] = (await client.fetch([RemoteKey("A")])).values()

    assert isinstance(found, Malformed)


@pytest.mark.parametrize(
    ("host", "rate"),
    [
        pytest.param("https://app.infisical.com/api", 2.0, id="cloud"),
        pytest.param("https://eu.infisical.com/api", 2.0, id="cloud in Europe"),
        pytest.param("https://infisical.com.example/api", None, id="another"),
    ],
)
def test_the_published_limit_is_the_cloud_s(host: str, rate: float | None) -> None:
    scope = {"projectSlug": "shop", "environmentSlug": "prod"}
    spec = spec_of(PROVIDER, {"hostAPI": host, "auth": TOKEN, "secretsScope": scope})

    assert published_rate(spec) == rate


@pytest.mark.parametrize("below", ["", "/", "/api", "/api/"])
async def test_the_address_may_lack_api(server: Infisical, below: str) -> None:
    """The operator's documentation writes it without."""
    async with by_token(server, below) as client:
        assert await client.fetch([RemoteKey("A")]) == {RemoteKey("A"): SecretBytes(b"1")}


@pytest.mark.parametrize("host", ["https://i.example", "https://i.example/api/"])
def test_the_receiver_is_the_address_that_is_called(host: str) -> None:
    scope = {"projectSlug": "shop", "environmentSlug": "prod"}
    auth: Json = {"kubernetesAuthCredentials": {"identityId": selected("id")}}
    [found] = receivers(spec_of(PROVIDER, {"hostAPI": host, "auth": auth, "secretsScope": scope}))

    assert found.url == "https://i.example/api"


async def test_what_a_list_leaves_out_is_not_absent(server: Infisical) -> None:
    server.secrets |= {("/web", f"K{number}"): "v" for number in range(30)}
    server.refused.add("K7")
    keys = [RemoteKey(f"K{number}") for number in range(31)]
    async with by_token(server) as client:
        found = await client.fetch(keys)

    assert isinstance(found[RemoteKey("K7")], Denied)
    assert keys[30] not in found
    assert sum(isinstance(each, SecretBytes) for each in found.values()) == 29
    assert len(server.calls) == 1 + 2, "the list, and the two that it does not have"


async def test_one_value_that_may_not_be_read_does_not_refuse_the_folder(server: Infisical) -> None:
    server.secrets |= {("/web", f"K{number}"): "v" for number in range(30)}
    server.described.add("K7")
    async with by_token(server) as client:
        found = await client.fetch([RemoteKey(f"K{number}") for number in range(30)])

    assert [key.key for key, each in found.items() if isinstance(each, Denied)] == ["K7"]
    assert len(found) == 30


async def test_a_token_lasts_until_its_own_end(server: Infisical) -> None:
    """`expiresIn` beside it is a setting, which may be 0."""
    clock = [NOW]
    server.until, server.expires_in = NOW + 600, 0
    async with as_machine(server, lambda: clock[0]) as client:
        await client.fetch([RemoteKey("A")])
        clock[0] += 500
        await client.fetch([RemoteKey("A")])
        before = len(server.logins)
        clock[0] += 50
        await client.fetch([RemoteKey("A")])

    assert (before, len(server.logins)) == (1, 2)


async def test_a_token_that_the_server_has_ended_is_renewed(server: Infisical) -> None:
    """One of an older server does not say when it ends."""
    server.until = None
    async with as_machine(server) as client:
        server.ended.add(server.token)
        assert await client.fetch([RemoteKey("A")]) == {RemoteKey("A"): SecretBytes(b"1")}

    assert len(server.logins) == 2


async def test_a_static_token_that_has_ended(server: Infisical) -> None:
    server.ended.add(server.token)
    async with by_token(server) as client:
        [found] = (await client.fetch([RemoteKey("A")])).values()

    assert isinstance(found, Denied)
    assert "the access token has ended" in str(found)
    assert "store another" in found.hint


async def test_a_push_does_not_concern_imports(server: Infisical) -> None:
    server.imports["/web"] = ["/shared"]
    server.secrets["/shared", "B"] = "shared"
    async with by_token(server) as client:
        read = await client.fetch([RemoteKey("B")])
        exists = await client.exists(RemoteTarget("B"))
        await client.delete(RemoteTarget("B"))
        await client.push(PushItem("B", "", SecretBytes(b"own")))
        await client.push(PushItem("B", "", SecretBytes(b"changed")))

    assert (read, exists) == ({RemoteKey("B"): SecretBytes(b"shared")}, False)
    assert (server.secrets["/web", "B"], server.secrets["/shared", "B"]) == ("changed", "shared")


@pytest.mark.parametrize("value", [" a", "a ", "a\r\n", "a\n\n", "\ufeffa", "\xa0a"])
async def test_white_space_that_would_be_lost(server: Infisical, value: str) -> None:
    async with by_token(server) as client:
        with pytest.raises(Malformed, match="white space, which Infisical removes") as refused:
            await client.push(PushItem("A", "", SecretBytes(value.encode())))

    assert (server.secrets["/web", "A"], refused.value.hint) == ("1", "push it in base64")


@pytest.mark.parametrize("value", ["a b", "a\nb\n", "\n", "\x1fa"])
async def test_white_space_that_stays(server: Infisical, value: str) -> None:
    async with by_token(server) as client:
        for _ in range(2):
            await client.push(PushItem("A", "", SecretBytes(value.encode())))

    assert (server.secrets["/web", "A"], server.writes) == (value, 1)


async def test_a_project_at_an_older_server() -> None:
    older = Infisical()
    older.project_path = "/api/v2/workspace/shop"
    async with running(older) as server, by_token(server) as client:
        await client.push(PushItem("A", "", SecretBytes(b"new")))

    assert older.secrets == {("/web", "A"): "new"}


async def test_a_project_that_was_made_anew(server: Infisical) -> None:
    async with by_token(server) as client:
        await client.push(PushItem("A", "", SecretBytes(b"2")))
        server.project = "p-2"
        with pytest.raises(Malformed, match="HTTP 404"):
            await client.push(PushItem("A", "", SecretBytes(b"3")))
        await client.push(PushItem("A", "", SecretBytes(b"3")))

    assert server.secrets["/web", "A"] == "3"


async def test_a_secret_that_an_import_may_have_is_not_absent(server: Infisical) -> None:
    """What may not be described is left out of imports as if it were not there."""
    server.imports["/web"] = ["/shared"]
    server.secrets["/shared", "B"] = "shared"
    server.unseen.add("/shared")
    async with by_token(server) as client:
        found = await client.fetch([RemoteKey("B"), RemoteKey("C"), RemoteKey("/shared/C")])

    assert {key.key: type(each) for key, each in found.items()} == {"B": Malformed, "C": Malformed}
    assert "what it imports may not be visible" in str(found[RemoteKey("B")])


@pytest.mark.parametrize("count", [1, 25])
async def test_the_last_import_counts_however_many_are_read(server: Infisical, count: int) -> None:
    server.imports["/web"] = ["/one", "/two"]
    server.secrets |= {(folder, "X"): folder for folder in ("/one", "/two")}
    server.secrets |= {("/web", f"K{number}"): "v" for number in range(count)}
    async with by_token(server) as client:
        found = await client.fetch([RemoteKey("X"), *(RemoteKey(f"K{number}") for number in range(count))])

    assert found[RemoteKey("X")] == SecretBytes(b"/two")


@pytest.mark.parametrize("count", [1, 25])
async def test_an_import_does_not_stand_in_for_what_may_not_be_described(
    server: Infisical, count: int
) -> None:
    server.imports["/web"] = ["/one"]
    server.secrets |= {("/web", f"K{number}"): "v" for number in range(count)}
    server.secrets["/one", "K0"] = "the import's"
    server.refused.add("K0")
    async with by_token(server) as client:
        found = await client.fetch([RemoteKey(f"K{number}") for number in range(count)])

    assert isinstance(found[RemoteKey("K0")], Denied)


@pytest.mark.parametrize("count", [1, 25])
async def test_a_folder_that_does_not_exist_fails_its_own_keys_alone(server: Infisical, count: int) -> None:
    server.missing.add("/typo")
    typos = [RemoteKey(f"/typo/K{number}") for number in range(count)]
    async with by_token(server) as client:
        found = await client.fetch([RemoteKey("A"), *typos])

    assert found[RemoteKey("A")] == SecretBytes(b"1")
    assert all(isinstance(found[key], Malformed) for key in typos)


async def test_a_batch_of_more_reads_than_a_minute_allows_ends(server: Infisical) -> None:
    keys = [RemoteKey(f"K{number}") for number in range(50)]
    server.secrets |= {("/web", key.key): "v" for key in keys}
    server.described.add("K7")  # so that the list is refused
    async with by_token(server) as client:
        for _ in range(2):
            server.allowed = 20
            with pytest.raises(Throttled):
                await client.fetch(keys)
        server.allowed = 20
        found = await client.fetch(keys)

    assert [key.key for key, each in found.items() if not isinstance(each, SecretBytes)] == ["K7"]
    assert len(found) == 50


@pytest.mark.parametrize("imported", [False, True], ids=["below the folder", "imported"])
async def test_a_search_does_not_lose_what_may_no_longer_be_read(
    server: Infisical, *, imported: bool
) -> None:
    folder = "/shared" if imported else "/web/deep"
    server.imports = {"/web": [folder]} if imported else {}
    server.secrets = {("/web", "A"): "1", (folder, "B"): "2"}
    scope = {"projectSlug": "shop", "environmentSlug": "prod", "secretsPath": "/web", "recursive": True}
    spec = spec_of(PROVIDER, {"hostAPI": f"{server.url}/api", "auth": TOKEN, "secretsScope": scope})
    given = Given(secrets={"login": {"token": server.token.encode()}})
    async with open_store(spec, context(given)) as client:
        before = await client.find(FindQuery(name="."), unpaced, Work())
        server.unread.add(folder)
        with pytest.raises(Denied, match="may not see the value of B"):
            await client.find(FindQuery(name="."), unpaced, Work())
        others = await client.find(FindQuery(name="A"), unpaced, Work())

    assert (set(before), set(others)) == ({"A", "B"}, {"A"})
