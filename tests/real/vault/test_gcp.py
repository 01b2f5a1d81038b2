"""The login by a service account of Google, at servers that verify what they are sent."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from syncret.config.fields import SecretKeySelector, ServiceAccountSelector
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Malformed
from syncret.providers.values import SecretBytes
from syncret.providers.vault.auth_spec import VaultAuth, VaultGcp, VaultGcpSecretRef, VaultGcpWorkloadIdentity
from syncret.providers.vault.connection import open_store
from syncret.providers.vault.spec import VaultSpec
from tests.support.jwts import claims_of, pem, private_key, signed
from tests.support.opened import NOW, Given, context
from tests.support.served import all_to, served

EMAIL = "app@project.iam.gserviceaccount.com"
POOL = "project.svc.id.goog"
GOOGLE = {"Metadata-Flavor": "Google"}


KEY = private_key("gcp")


def jwt(claims: dict[str, Any]) -> str:
    return signed(claims, KEY, kid="test")


def verified(token: str) -> dict[str, Any]:
    return claims_of(token, {"test": KEY.public_key()}.get)


class World:
    """Vault, Google's token service, IAM and a metadata server, in one."""

    def __init__(self) -> None:
        self.url = ""
        self.logins: list[dict[str, Any]] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        match request.path:
            case "/v1/auth/gcp/login":
                asked = await request.json()
                self.logins.append(verified(asked["jwt"]) | {"role": asked["role"]})
                return web.json_response({"auth": {"client_token": "t", "lease_duration": 60}})
            case "/v1/auth/token/revoke-self":
                return web.Response(status=204)
            case "/computeMetadata/v1/instance/service-accounts/default/identity":
                assert request.headers["Metadata-Flavor"] == "Google"
                return web.Response(
                    text=jwt({"aud": request.query["audience"], "sub": "machine"}), headers=GOOGLE
                )
            case "/computeMetadata/v1/instance/attributes/cluster-location":
                return web.Response(text="europe-west1", headers=GOOGLE)
            case "/v1/identitybindingtoken":
                asked = await request.json()
                assert verified(asked["subject_token"])["aud"] == [POOL]
                cluster = (
                    "https://container.googleapis.com/v1/projects/project/locations/europe-west1/clusters/one"
                )
                assert asked["audience"] == f"identitynamespace:{POOL}:{cluster}"
                return web.json_response({"access_token": "federated"})
            case _:
                return await self._iam(request)

    async def _iam(self, request: web.Request) -> web.StreamResponse:
        assert f"/serviceAccounts/{EMAIL}:" in request.path
        bearer = request.headers["Authorization"]
        if request.path.endswith(":generateAccessToken"):
            assert bearer == "Bearer federated"
            return web.json_response({"accessToken": "access", "expireTime": "2009-02-14T00:31:30Z"})
        assert bearer == "Bearer access"
        return web.json_response({"signedJwt": jwt(json.loads((await request.json())["payload"]))})


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    made = World()
    async with served(all_to(made.handle)) as made.url:
        monkeypatch.setenv("GCE_METADATA_HOST", made.url.removeprefix("http://"))
        for service in ("SECURETOKEN", "IAMCREDENTIALS"):
            monkeypatch.setenv(f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{service}", made.url)
        yield made


async def login(world: World, method: VaultGcp, given: Given) -> dict[str, Any]:
    spec = VaultSpec(server=world.url, path="kv", auth=VaultAuth(gcp=method))
    async with open_store(spec, context(given)):
        [found] = world.logins
    return found


def by_key(**fields: str) -> tuple[VaultGcp, Given]:
    selector = SecretKeySelector(name="gcp", key="key.json")
    method = VaultGcp(role="app", secret_ref=VaultGcpSecretRef(secret_access_key_secret_ref=selector))
    return method, Given(secrets={"gcp": {"key.json": json.dumps(fields).encode()}})


async def test_a_key_signs_for_itself(world: World) -> None:
    method, given = by_key(client_email=EMAIL, private_key=pem(KEY), private_key_id="test")

    assert await login(world, method, given) == {
        "role": "app",
        "sub": EMAIL,
        "aud": "vault/app",
        "iat": int(NOW),
        "exp": int(NOW) + 600,
    }


async def test_a_machine_is_known_by_its_metadata_server(world: World) -> None:
    found = await login(world, VaultGcp(role="app"), Given())

    assert found == {"role": "app", "sub": "machine", "aud": "http://vault/app"}


async def test_a_workload_is_exchanged(world: World) -> None:
    identity = VaultGcpWorkloadIdentity(
        service_account_ref=ServiceAccountSelector(name="app"), cluster_name="one"
    )
    token = IssuedToken(SecretBytes(jwt({"aud": [POOL]}).encode()), NOW + 600)
    given = Given(tokens={"app": token}, annotations={"app": {"iam.gke.io/gcp-service-account": EMAIL}})
    found = await login(world, VaultGcp(role="app", project_id="project", workload_identity=identity), given)

    assert (found["sub"], found["aud"]) == (EMAIL, "vault/app")
    assert given.asked == [("app", (POOL,), 900)]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"client_email": EMAIL}, id="no key"),
        pytest.param({"client_email": EMAIL, "private_key": "canary-9b", "private_key_id": "x"}, id="no PEM"),
    ],
)
async def test_a_file_that_is_none_is_told(world: World, fields: dict[str, str]) -> None:
    method, given = by_key(**fields)
    with pytest.raises(Malformed, match="holds no key file") as caught:
        await login(world, method, given)

    assert "canary" not in f"{caught.value!r}{caught.value.__context__!r}"
