"""The generator VaultDynamicSecret on the real Vault: parts of answers, and the end of leases."""

import json

import pytest

from syncret.config.fields import SecretKeySelector
from syncret.config.resources.secret_store import RetrySettings
from syncret.providers.contract import Generated
from syncret.providers.errors import Denied, Malformed
from syncret.providers.vault.auth_spec import VaultAuth
from syncret.providers.vault.dynamic_secret import DYNAMIC_SECRET, VaultDynamicSecretSpec
from syncret.providers.vault.spec import VaultSpec
from tests.support.opened import NOW, Given, context
from tests.support.servers.vault.running import ROOT_TOKEN, vault

pytestmark = pytest.mark.slow


def spec(path: str, *, token: str = ROOT_TOKEN, **more: object) -> tuple[VaultDynamicSecretSpec, Given]:
    auth = VaultAuth(token_secret_ref=SecretKeySelector(name="t", key="t"))
    provider = VaultSpec(server=vault().url, auth=auth)
    made = VaultDynamicSecretSpec(provider=provider, path=path, **more)  # type: ignore[arg-type]  # a table's columns
    return made, Given(secrets={"t": {"t": token.encode()}})


async def draw(path: str, **more: object) -> Generated:
    wanted, given = spec(path, **more)  # type: ignore[arg-type]  # as above
    assert DYNAMIC_SECRET.generate is not None
    return await DYNAMIC_SECRET.generate(wanted, context(given))


def raw(drawn: Generated) -> dict[str, bytes]:
    return {key: value.raw for key, value in drawn.values.items()}


@pytest.fixture
def leased() -> str:
    """An engine that gives a lease of a minute with each read of `db`."""
    engine = vault().mount("leased-kv")
    vault().write(f"{engine}/db", user="ada", ttl="60s", port=5432)
    return engine


async def test_draws_data_with_a_lease(leased: str) -> None:
    drawn = await draw(f"{leased}/db")

    assert raw(drawn) == {"user": b"ada", "ttl": b"60s", "port": b"5432"}
    assert drawn.state is not None
    assert drawn.state["leaseID"].startswith(f"{leased}/db/")
    assert drawn.state["ends"] == int(NOW) + 60


async def test_draws_a_token() -> None:
    drawn = await draw(
        "auth/token/create", method="POST", parameters={"policies": ["default"]}, result_type="Auth"
    )
    values = raw(drawn)

    assert json.loads(values["policies"]) == ["default"]
    status, _ = vault().request("GET", "auth/token/lookup-self", token=values["client_token"].decode())
    assert status == 200


async def test_draws_everything(leased: str) -> None:
    values = raw(await draw(f"{leased}/db", result_type="Raw"))

    assert json.loads(values["data"])["user"] == "ada"
    assert (values["lease_duration"], values["renewable"], values["warnings"]) == (b"60", b"true", b"")
    assert set(values) == {"request_id", "lease_id", "lease_duration", "renewable", "data", "warnings"}


async def test_an_answer_without_an_envelope_is_data() -> None:
    assert raw(await draw("sys/seal-status"))["sealed"] == b"false"


async def test_lists_and_asks_with_a_query(leased: str) -> None:
    assert raw(await draw(leased, method="LIST")) == {"keys": b'["db"]'}
    versions = vault().mount(version="2")
    vault().write(f"{versions}/data/a", data={"n": 1})
    vault().write(f"{versions}/data/a", data={"n": 2})
    old = await draw(f"{versions}/data/a", get_parameters={"version": ("1",)})

    assert json.loads(raw(old)["data"]) == {"n": 1}


async def test_an_answer_may_be_empty_if_that_is_allowed(leased: str) -> None:
    wanted = {"method": "POST", "parameters": {"user": "bob"}}
    with pytest.raises(Malformed, match="empty response from Vault"):
        await draw(f"{leased}/bob", **wanted)
    with pytest.raises(Malformed, match="empty response from Vault"):
        await draw(f"{leased}/nobody", retry_settings=RetrySettings(max_retries=1, retry_interval="1ms"))

    assert raw(await draw(f"{leased}/bob", allow_empty_response=True, **wanted)) == {}


def exists(lease: str) -> bool:
    return vault().request("PUT", "sys/leases/lookup", {"lease_id": lease})[0] == 200


async def test_cleaning_up_revokes_the_lease(leased: str) -> None:
    wanted, given = spec(f"{leased}/db")
    state = (await draw(f"{leased}/db")).state
    assert state is not None
    assert DYNAMIC_SECRET.cleanup is not None
    before = exists(state["leaseID"])
    for _ in range(2):
        await DYNAMIC_SECRET.cleanup(wanted, state, context(given))

    assert (before, exists(state["leaseID"])) == (True, False)


async def test_cleaning_up_without_the_right_to_leaves_the_lease_to_its_end(leased: str) -> None:
    policy = vault().policy(**{f"{leased}/*": "read"})
    wanted, given = spec(f"{leased}/db", token=vault().token(policy))
    state = (await draw(f"{leased}/db")).state
    assert state is not None
    assert DYNAMIC_SECRET.cleanup is not None
    await DYNAMIC_SECRET.cleanup(wanted, state, context(given))
    assert exists(state["leaseID"])
    given.secrets["t"] = {"t": b"wrong"}

    with pytest.raises(Denied):
        await DYNAMIC_SECRET.cleanup(wanted, state, context(given))
    await DYNAMIC_SECRET.cleanup(wanted, state, context(given, now=lambda: NOW + 61))
