"""Every way to log in, on the real Vault; what it asks in turn (AWS, a directory, an API server) is ours."""

import time
from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from syncret.config.fields import CAProvider, SecretKeySelector, ServiceAccountSelector
from syncret.config.settings import OwnIdentity
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.ambient.door import Door
from syncret.providers.kit.vault.spec import UserPass
from syncret.providers.values import SecretBytes
from syncret.providers.vault.auth_spec import (
    VaultAppRole,
    VaultAuth,
    VaultCert,
    VaultIam,
    VaultIamJwt,
    VaultIamSecretRef,
    VaultJwt,
    VaultKubernetes,
    VaultLdap,
    VaultServiceAccountToken,
)
from syncret.providers.vault.spec import VaultSpec, VaultTLS
from tests.real.vault.support import Mount, opened, read
from tests.support.jwts import private_key, public_pem, signed
from tests.support.opened import Given, context, door_of
from tests.support.served import Handler, all_to, served
from tests.support.servers.ldap import ldap
from tests.support.servers.sts import ACCOUNT, Sts, sts
from tests.support.servers.vault.running import Vault, vault
from tests.support.tls import Authority

pytestmark = pytest.mark.slow

PASSWORD = SecretKeySelector(name="login", key="password")
ACCOUNT_REF = ServiceAccountSelector(name="app")
KEY = private_key("vault")


@pytest.fixture
def mount() -> Mount:
    return Mount(vault())


async def user(
    mount: Mount, auth: VaultAuth, given: Given, door: Door | None = None, **spec: object
) -> bytes | None:
    """What a store with this login reads, by the real clock: AWS and JWTs go by it."""
    store = VaultSpec(server=mount.server.url, path=mount.path, auth=auth, **spec)  # type: ignore[arg-type]  # a table's columns
    async with opened(store, context(given, now=time.time, door=door)) as client:
        return await read(client, "db", "user")


def secret(**keys: str) -> Given:
    return Given(secrets={"login": {key.replace("_", "-"): value.encode() for key, value in keys.items()}})


def issued(token: str) -> Given:
    return Given(tokens={"app": IssuedToken(SecretBytes(token.encode()), time.time() + 600)})


async def test_token(mount: Mount) -> None:
    given = secret(token=vault().token(mount.policy))
    auth = VaultAuth(token_secret_ref=SecretKeySelector(name="login", key="token"))

    assert await user(mount, auth, given) == b"ada"


async def test_app_role_with_its_id_in_a_secret(mount: Mount) -> None:
    auth, given = mount.app_role()
    assert auth.app_role is not None
    given.secrets["role"] = {"id": auth.app_role.role_id.encode()}
    method = VaultAppRole(
        path=auth.app_role.path,
        role_ref=SecretKeySelector(name="role", key="id"),
        secret_ref=auth.app_role.secret_ref,
    )

    assert await user(mount, VaultAuth(app_role=method), given) == b"ada"


async def test_user_pass(mount: Mount) -> None:
    path = vault().login("userpass")
    vault().write(f"auth/{path}/users/ada.b", password="correct horse", token_policies=[mount.policy])
    auth = VaultAuth(user_pass=UserPass(path=path, username=" ada.b ", secret_ref=PASSWORD))

    assert await user(mount, auth, secret(password="correct horse")) == b"ada"


async def test_ldap(mount: Mount) -> None:
    path = vault().login("ldap")
    async with ldap("cn=ada,dc=example", "correct horse") as url:
        vault().write(f"auth/{path}/config", url=url, userdn="dc=example", userattr="cn")
        vault().write(f"auth/{path}/users/ada", policies=mount.policy)
        auth = VaultAuth(ldap=VaultLdap(path=path, username="ada", secret_ref=PASSWORD))

        assert await user(mount, auth, secret(password="correct horse")) == b"ada"
        with pytest.raises(Denied, match="by ldap: Vault refuses it"):
            await user(mount, auth, secret(password="wrong"))


def jwt_login(mount: Mount) -> str:
    path = vault().login("jwt")
    vault().write(f"auth/{path}/config", jwt_validation_pubkeys=[public_pem(KEY)])
    vault().write(
        f"auth/{path}/role/app",
        role_type="jwt",
        user_claim="sub",
        bound_audiences=["vault"],
        token_policies=[mount.policy],
    )
    return path


def claims(audience: str = "vault") -> str:
    now = int(time.time())
    asked = {"sub": "system:serviceaccount:default:app", "aud": audience, "iat": now, "exp": now + 600}
    return signed(asked, KEY, kid="test")


async def test_jwt_from_a_secret(mount: Mount) -> None:
    ref = SecretKeySelector(name="login", key="jwt")
    auth = VaultAuth(jwt=VaultJwt(path=jwt_login(mount), role="app", secret_ref=ref))

    assert await user(mount, auth, secret(jwt=claims())) == b"ada"
    with pytest.raises(Denied, match="Vault refuses it"):
        await user(mount, auth, secret(jwt=claims("somebody else")))


async def test_jwt_of_a_service_account(mount: Mount) -> None:
    token = VaultServiceAccountToken(service_account_ref=ACCOUNT_REF)
    auth = VaultAuth(jwt=VaultJwt(path=jwt_login(mount), role="app", kubernetes_service_account_token=token))
    given = issued(claims())

    assert await user(mount, auth, given) == b"ada"
    assert given.asked == [("app", ("vault",), 600)]


@pytest.fixture
async def api_server() -> AsyncIterator[str]:
    """Reviews tokens as Kubernetes does: those of account `app` are known."""

    async def review(request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        known = asked["spec"]["token"] == ISSUED
        named = {
            "username": "system:serviceaccount:default:app",
            "uid": "1",
            "groups": ["system:serviceaccounts"],
        }
        status = {"authenticated": known, **({"user": named} if known else {})}
        return web.json_response(asked | {"status": status}, status=201)

    async with served(all_to(review)) as url:
        yield url


ISSUED = signed(
    {
        "sub": "system:serviceaccount:default:app",
        "iss": "https://kubernetes.default.svc",
        "iat": int(time.time()),
        "exp": int(time.time()) + 3600,
        "kubernetes.io": {"namespace": "default", "serviceaccount": {"name": "app", "uid": "1"}},
    },
    KEY,
    kid="test",
)


@pytest.mark.parametrize("source", ["issued", "secret", "mounted"])
async def test_kubernetes(mount: Mount, api_server: str, source: str, tmp_path: Path) -> None:
    path = vault().login("kubernetes")
    reviewer = signed({"sub": "reviewer"}, KEY, kid="test")
    vault().write(
        f"auth/{path}/config",
        kubernetes_host=api_server,
        token_reviewer_jwt=reviewer,
        disable_local_ca_jwt=True,
        kubernetes_ca_cert=Authority().pem.decode(),
    )
    vault().write(
        f"auth/{path}/role/app",
        bound_service_account_names=["app"],
        bound_service_account_namespaces=["default"],
        token_policies=[mount.policy],
    )
    method = VaultKubernetes(role="app", mount_path=path)
    given, door = issued(ISSUED), None
    match source:
        case "issued":
            method = VaultKubernetes(role="app", mount_path=path, service_account_ref=ACCOUNT_REF)
        case "secret":
            method = VaultKubernetes(role="app", mount_path=path, secret_ref=SecretKeySelector(name="login"))
            given = secret(token=ISSUED)
        case _:
            (tmp_path / "token").write_text(ISSUED)
            door = door_of(OwnIdentity(mode="open"), mount=tmp_path)

    assert await user(mount, VaultAuth(kubernetes=method), given, door) == b"ada"


@pytest.fixture
async def aws() -> AsyncIterator[Sts]:
    async with sts() as made:
        made.know("AKIA1", f"arn:aws:iam::{ACCOUNT}:user/ada")
        yield made


def aws_login(mount: Mount, aws: Sts, principal: str) -> str:
    path = vault().login("aws")
    vault().write(
        f"auth/{path}/config/client",
        sts_endpoint=aws.url,
        sts_region="eu-west-1",
        iam_server_id_header_value="vault.example",
        max_retries=0,
    )
    vault().write(
        f"auth/{path}/role/app",
        auth_type="iam",
        bound_iam_principal_arn=principal,
        resolve_aws_unique_ids=False,
        token_policies=[mount.policy],
    )
    return path


KEYS = VaultIamSecretRef(
    access_key_id=SecretKeySelector(name="login", key="id"),
    secret_access_key=SecretKeySelector(name="login", key="key"),
)
ROLE = f"arn:aws:iam::{ACCOUNT}:role/app"
SERVER_ID = "vault.example"


async def test_iam_with_static_keys(mount: Mount, aws: Sts) -> None:
    path = aws_login(mount, aws, f"arn:aws:iam::{ACCOUNT}:user/ada")
    method = VaultIam(
        vault_role="app", path=path, region="eu-west-1", secret_ref=KEYS, vault_aws_iam_server_id=SERVER_ID
    )

    assert await user(mount, VaultAuth(iam=method), secret(id="AKIA1", key="secret-of-AKIA1")) == b"ada"
    with pytest.raises(Denied, match="by iam: Vault refuses it"):
        await user(mount, VaultAuth(iam=method), secret(id="AKIA1", key="wrong"))


async def test_iam_with_a_role_that_is_assumed_first(
    mount: Mount, aws: Sts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_STS_ENDPOINT", f"{aws.url}/")
    path = aws_login(mount, aws, ROLE)
    method = VaultIam(
        vault_role="app",
        path=path,
        secret_ref=KEYS,
        role=ROLE,
        external_id="x",
        vault_aws_iam_server_id=SERVER_ID,
    )

    assert await user(mount, VaultAuth(iam=method), secret(id="AKIA1", key="secret-of-AKIA1")) == b"ada"
    assert aws.asked[0]["ExternalId"] == "x"


@pytest.mark.parametrize("source", ["account", "pod's role", "pod identity"])
async def test_iam_with_the_identity_of_a_pod(
    mount: Mount, aws: Sts, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_STS_ENDPOINT", f"{aws.url}/")
    aws.roles["web-token"] = ROLE
    path = aws_login(mount, aws, ROLE)
    method = VaultIam(vault_role="app", path=path, vault_aws_iam_server_id=SERVER_ID)
    given = issued("web-token")
    given.annotations["app"] = {"eks.amazonaws.com/role-arn": ROLE}
    agent = all_to(pod_agent(aws))
    async with served(agent) as pod:
        match source:
            case "account":
                method = VaultIam(
                    vault_role="app",
                    path=path,
                    jwt=VaultIamJwt(service_account_ref=ACCOUNT_REF),
                    vault_aws_iam_server_id=SERVER_ID,
                )
            case "pod's role":
                (tmp_path / "token").write_text("web-token")
                monkeypatch.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", str(tmp_path / "token"))
                monkeypatch.setenv("AWS_ROLE_ARN", ROLE)
            case _:
                monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{pod}/v1/credentials")
                monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN", "pod-token")

        assert await user(mount, VaultAuth(iam=method), given) == b"ada"


def pod_agent(aws: Sts) -> Handler:
    aws.know("ASIAPOD", f"arn:aws:sts::{ACCOUNT}:assumed-role/app/pod", "pod-session")

    async def handle(request: web.Request) -> web.StreamResponse:
        assert request.headers["Authorization"] == "pod-token"
        keys = {"AccessKeyId": "ASIAPOD", "SecretAccessKey": aws.secrets["ASIAPOD"], "Token": "pod-session"}
        return web.json_response(keys)

    return handle


async def test_iam_without_any_credentials_says_so(mount: Mount, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(Malformed, match="no AWS authentication method found"):
        await user(mount, VaultAuth(iam=VaultIam(vault_role="app")), Given())


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture(scope="module")
def secure(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Vault:
    """Another server, which speaks TLS and asks for certificates."""
    folder = tmp_path_factory.mktemp("tls")
    pair = authority.pair()
    (folder / "cert.pem").write_bytes(pair.certificate)
    (folder / "key.pem").write_bytes(pair.key)
    return Vault(
        "-tls-cert",
        str(folder / "cert.pem"),
        "-tls-key",
        str(folder / "key.pem"),
        trust=authority.pem.decode(),
    )


@pytest.mark.parametrize("trust", ["bundle", "config map", "secret"])
async def test_cert(secure: Vault, authority: Authority, trust: str) -> None:
    mount = Mount(secure)
    path = secure.login("cert")
    pair = authority.pair("app")
    secure.write(f"auth/{path}/certs/app", certificate=authority.pem.decode(), token_policies=[mount.policy])
    method = VaultCert(
        path=path,
        vault_role="app",
        client_cert=SecretKeySelector(name="login", key="tls.crt"),
        secret_ref=SecretKeySelector(name="login", key="tls.key"),
    )
    given = Given(
        secrets={"login": {"tls.crt": pair.certificate, "tls.key": pair.key, "ca.crt": authority.pem}},
        config_maps={"ca": {"pem": authority.pem.decode()}},
    )
    ways: dict[str, dict[str, object]] = {
        "bundle": {"ca_bundle": b64encode(authority.pem).decode()},
        "config map": {"ca_provider": CAProvider(type="ConfigMap", name="ca", key="pem")},
        "secret": {"ca_provider": CAProvider(type="Secret", name="login", key="ca.crt")},
    }

    assert await user(mount, VaultAuth(cert=method), given, None, **ways[trust]) == b"ada"


async def test_a_client_certificate_without_its_login(secure: Vault, authority: Authority) -> None:
    mount = Mount(secure)
    pair = authority.pair("app")
    given = secret(token=secure.token(mount.policy))
    given.secrets["tls"] = {"tls.crt": pair.certificate, "tls.key": pair.key}
    ref = SecretKeySelector(name="tls")
    auth = VaultAuth(token_secret_ref=SecretKeySelector(name="login", key="token"))
    tls = VaultTLS(cert_secret_ref=ref, key_secret_ref=ref)
    bundle = b64encode(authority.pem).decode()

    assert await user(mount, auth, given, tls=tls, ca_bundle=bundle) == b"ada"
    with pytest.raises(Malformed, match="its certificate is not trusted"):
        await user(mount, auth, given, tls=tls)
