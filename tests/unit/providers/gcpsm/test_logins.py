"""Every way to log in to Google, on servers that verify what they are given; how tokens are held."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from syncret.config.fields import SecretKeySelector, ServiceAccountSelector
from syncret.providers.contract import IssuedToken, RemoteKey, RemoteRef, SecretBytes
from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.gcpsm.gcr import GCR, GcrAccessTokenSpec, GcrAuth, GcrWorkloadIdentity
from syncret.providers.gcpsm.spec import (
    AwsSecurityCredentials,
    ConfigMapKeySelector,
    GcpAuth,
    GcpSecretRef,
    GcpWorkloadIdentity,
    GcpWorkloadIdentityFederation,
    SecretName,
)
from tests.servers.google.identity import HOUR, User
from tests.servers.google.logins import POOLS, Issuer
from tests.servers.google.server import Google
from tests.support.opened import NOW, Given, context
from tests.unit.providers.gcpsm.stores import BY_KEY, Clock, opened, read, seed

AUDIENCE = f"{POOLS}/p/providers/oidc"
AWS_AUDIENCE = f"{POOLS}/p/providers/aws"
POOL = "projects/123456789012/locations/global/workloadIdentityPools/p"
SUBJECT = "system:serviceaccount:default:app"
PRINCIPAL = f"principal://iam.googleapis.com/{POOL}/subject/{SUBJECT}"
CLUSTER = "https://container.googleapis.com/v1/projects/acme/locations/europe-west3/clusters/c1"
WORKLOAD = "serviceAccount:acme.svc.id.goog[default/app]"
ANNOTATION = "iam.gke.io/gcp-service-account"
APP = ServiceAccountSelector(name="app")
ADC = GcpAuth()


async def reads(given: Given, clock: Clock, auth: GcpAuth, **spec: str | None) -> bytes | None:
    """The value of the secret `db`, read by one who logs in like this."""
    async with opened(given, clock, auth, **spec) as client:
        return await read(client, RemoteRef("db"))


@pytest.fixture(autouse=True)
def _seeded(cloud: Google) -> None:
    seed(cloud, "db", b"one")


# -- tokens
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
        with pytest.raises(Denied, match="invalid_grant") as caught:
            await read(client, RemoteRef("db"))

    assert "deleted or expired" in caught.value.hint


async def test_a_token_that_nobody_takes(cloud: Google, given: Given, clock: Clock) -> None:
    async with opened(given, clock) as client:
        nobody = web.json_response({"error": {"code": 401, "status": "UNAUTHENTICATED"}}, status=401)

        def refuse(request: web.Request) -> web.StreamResponse | None:
            if not request.path.endswith(":access"):
                return None
            return web.Response(body=nobody.body, status=401)

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


# -- GKE
@pytest.fixture
def cluster(cloud: Google) -> Issuer:
    issuer = Issuer(CLUSTER, frozenset())
    cloud.logins.clusters["acme.svc.id.goog"] = issuer
    return issuer


def workload(issuer: Issuer, *audiences: str, **annotations: str) -> Given:
    """A home whose API server issues this token for the ServiceAccount `app`."""
    token = SecretBytes(issuer.token(SUBJECT, *audiences, now=NOW).encode())
    return Given(tokens={"app": IssuedToken(token, NOW + 600)}, annotations={"app": annotations})


WRITTEN = GcpAuth(
    workload_identity=GcpWorkloadIdentity(
        service_account_ref=ServiceAccountSelector(name="app", audiences=("more",)),
        cluster_location="europe-west3",
        cluster_name="c1",
        cluster_project_id="acme",
    )
)


async def test_a_workload_of_gke(cloud: Google, clock: Clock, cluster: Issuer) -> None:
    cloud.identity.members["acme"].add(WORKLOAD)
    given = workload(cluster, "acme.svc.id.goog")

    assert await reads(given, clock, WRITTEN, project_id=None) == b"one"
    assert given.asked == [("app", ("acme.svc.id.goog", "more"), 900)]
    assert cloud.identity.logins == [WORKLOAD]


async def test_a_workload_stands_for_a_service_account(cloud: Google, clock: Clock, cluster: Issuer) -> None:
    email = cloud.identity.account("target")
    given = workload(cluster, "acme.svc.id.goog", **{ANNOTATION: email})
    with pytest.raises(Denied, match="impersonating") as caught:
        await reads(given, clock, WRITTEN)
    cloud.identity.impersonators[email] = {WORKLOAD}

    assert "roles/iam.workloadIdentityUser" in caught.value.hint
    assert await reads(given, clock, WRITTEN) == b"one"
    assert cloud.identity.logins[-2:] == [WORKLOAD, email]


async def test_the_machine_knows_its_cluster(cloud: Google, clock: Clock, cluster: Issuer) -> None:
    cloud.identity.members["acme"].add(WORKLOAD)
    auth = GcpAuth(workload_identity=GcpWorkloadIdentity(service_account_ref=APP))
    given = workload(cluster, "acme.svc.id.goog")
    with pytest.raises(Malformed, match="cluster-location") as caught:
        await reads(given, clock, auth)
    cloud.machine.attributes |= {"cluster-name": "c1", "cluster-location": "europe-west3"}

    assert "clusterName" in caught.value.hint
    assert await reads(given, clock, auth, project_id=None) == b"one"


@pytest.mark.parametrize("audience", ["another.svc.id.goog", "https://kubernetes"])
async def test_a_token_for_somebody_else_is_refused(
    cloud: Google, clock: Clock, cluster: Issuer, audience: str
) -> None:
    with pytest.raises(Denied, match=r"exchanging the token of ServiceAccount app at Google.*invalid_grant"):
        await reads(workload(cluster, audience), clock, WRITTEN)


# -- federation
@pytest.fixture
def issuer(cloud: Google) -> Issuer:
    issuer = Issuer("https://issuer.example", frozenset({"wanted"}))
    cloud.logins.providers[AUDIENCE] = issuer
    cloud.identity.members["acme"].add(PRINCIPAL)
    return issuer


def federated(**fields: Any) -> GcpAuth:  # noqa: ANN401  # the spec's own fields
    return GcpAuth(workload_identity_federation=GcpWorkloadIdentityFederation(**fields))


async def test_a_service_account_of_any_cluster(cloud: Google, clock: Clock, issuer: Issuer) -> None:
    account = ServiceAccountSelector(name="app", audiences=("wanted",))
    given = workload(issuer, "wanted")

    assert await reads(given, clock, federated(service_account_ref=account, audience=AUDIENCE)) == b"one"
    assert given.asked == [("app", ("wanted",), 900)]


@pytest.mark.parametrize("written", ["store", "ServiceAccount"])
async def test_federation_impersonates(cloud: Google, clock: Clock, issuer: Issuer, written: str) -> None:
    email, other = cloud.identity.account("target"), cloud.identity.account("other")
    cloud.identity.impersonators[email] = {PRINCIPAL}
    given = workload(issuer, "wanted", **{ANNOTATION: other if written == "store" else email})
    fields = {"gcp_service_account_email": email} if written == "store" else {}
    auth = federated(service_account_ref=APP, audience=AUDIENCE, **fields)

    assert await reads(given, clock, auth) == b"one"
    assert cloud.identity.logins == [PRINCIPAL, email]


@pytest.mark.parametrize("session", [b"", b"token-of-a-role"], ids=["keys", "keys of a role"])
async def test_credentials_of_aws(cloud: Google, clock: Clock, session: bytes) -> None:
    cloud.logins.providers[AWS_AUDIENCE] = {"AKIA1": "aws-secret"}
    arn = "arn:aws:iam::111122223333:user/AKIA1"
    cloud.identity.members["acme"].add(f"principal://iam.googleapis.com/{POOL}/subject/{arn}")
    keys = {"aws_access_key_id": b"AKIA1", "aws_secret_access_key": b"aws-secret"}
    given = Given(secrets={"aws": {**keys, "aws_session_token": session}})
    ref = AwsSecurityCredentials(aws_credentials_secret_ref=SecretName(name="aws"), region="us-east-2")
    auth = federated(aws_security_credentials=ref, audience=AWS_AUDIENCE)

    assert await reads(given, clock, auth) == b"one"
    given.secrets["aws"] = {**keys, "aws_secret_access_key": b"canary-8e"}
    with pytest.raises(Denied, match="invalid_grant") as caught:
        await reads(given, clock, auth)
    assert "canary" not in str(vars(caught.value))
    given.secrets["aws"] = {"aws_access_key_id": b"AKIA1"}
    with pytest.raises(Malformed, match="aws_secret_access_key keys must be present"):
        await reads(given, clock, auth)


def configured(config: object) -> Given:
    return Given(config_maps={"wif": {"config": json.dumps(config)}})


def external(source: object, **more: object) -> dict[str, object]:
    """A configuration as gcloud writes it."""
    return {
        "type": "external_account",
        "audience": AUDIENCE,
        "subject_token_type": "urn:ietf:params:oauth:token-type:jwt",
        "token_url": "https://sts.googleapis.com/v1/token",
        "credential_source": source,
        **more,
    }


CONFIG = ConfigMapKeySelector(name="wif", key="config")


@pytest.mark.parametrize("kind", ["text", "json"])
async def test_a_configuration_with_a_file(
    cloud: Google, clock: Clock, issuer: Issuer, tmp_path: Path, kind: str
) -> None:
    token = issuer.token(SUBJECT, f"https:{AUDIENCE}", now=NOW)
    (tmp_path / "token").write_text(json.dumps({"id_token": token}) if kind == "json" else f"{token}\n")
    form = {"type": kind, "subject_token_field_name": "id_token"}
    given = configured(external({"file": str(tmp_path / "token"), "format": form}))

    assert await reads(given, clock, federated(cred_config=CONFIG)) == b"one"


async def test_a_configuration_with_an_address(cloud: Google, clock: Clock, issuer: Issuer) -> None:
    email = cloud.identity.account("target")
    cloud.identity.impersonators[email] = {PRINCIPAL}
    url = f"{cloud.url}/issue"
    usual = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts"
    config = external(
        {"url": url, "headers": {"X-Who": "me"}},
        service_account_impersonation_url=f"{usual}/{email}:generateAccessToken",
        service_account_impersonation={"token_lifetime_seconds": 600},
    )

    def issue(request: web.Request) -> web.StreamResponse | None:
        if request.path != "/issue":
            return None
        assert request.headers["X-Who"] == "me"
        return web.Response(text=issuer.token(SUBJECT, "wanted", now=NOW))

    with cloud.failing(issue):
        auth = federated(cred_config=CONFIG, external_token_endpoint=url)
        assert await reads(configured(config), clock, auth) == b"one"
        with pytest.raises(Malformed, match="externalTokenEndpoint"):
            await reads(configured(config), clock, federated(cred_config=CONFIG))
    assert [token.expires - NOW for token in cloud.identity.tokens.values()] == [HOUR, 600]


async def test_a_configuration_of_a_machine_at_aws(
    cloud: Google, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", cloud.url)
    cloud.logins.providers[AWS_AUDIENCE] = {"ASIA1": "aws-secret"}
    arn = "arn:aws:iam::111122223333:user/ASIA1"
    cloud.identity.members["acme"].add(f"principal://iam.googleapis.com/{POOL}/subject/{arn}")
    imds = "http://169.254.169.254/latest"
    source = {
        "environment_id": "aws1",
        "region_url": f"{imds}/meta-data/placement/availability-zone",
        "url": f"{imds}/meta-data/iam/security-credentials",
        "imdsv2_session_token_url": f"{imds}/api/token",
        "regional_cred_verification_url": (
            "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"
        ),
    }
    keys = {"AccessKeyId": "ASIA1", "SecretAccessKey": "aws-secret", "Token": "t"}
    told = {
        "/latest/meta-data/placement/availability-zone": "eu-west-1b",
        "/latest/meta-data/iam/security-credentials": "role",
        "/latest/meta-data/iam/security-credentials/role": json.dumps(keys),
    }

    def machine(request: web.Request) -> web.StreamResponse | None:
        if request.path == "/latest/api/token" and request.method == "PUT":
            return web.Response(text="session")
        if request.path in told and request.headers.get("X-aws-ec2-metadata-token") == "session":
            return web.Response(text=told[request.path])
        return None

    config = external(source, subject_token_type="urn:ietf:params:aws:token-type:aws4_request")
    with cloud.failing(machine):
        auth = federated(cred_config=CONFIG, audience=AWS_AUDIENCE)
        assert await reads(configured(config), clock, auth) == b"one"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        pytest.param({}, "exactly one of", id="none"),
        pytest.param({"service_account_ref": APP, "cred_config": CONFIG}, "exactly one of", id="two"),
        pytest.param({"service_account_ref": APP}, "audience must be provided", id="no audience"),
    ],
)
async def test_bad_federation(cloud: Google, clock: Clock, fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(Malformed, match=problem):
        await reads(configured(external({"file": "/x"})), clock, federated(**fields))


OWN = "/var/run/secrets/kubernetes.io/serviceaccount/token"
EVIL = "https://sts.evil.example/v1/token"


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        pytest.param({"type": "service_account"}, "no configuration of an external account", id="type"),
        pytest.param(["x"], "no configuration of an external account", id="shape"),
        pytest.param(external({}), "credential_source is empty", id="no source"),
        pytest.param(external({"file": OWN}), "daemon's own token", id="our own token"),
        pytest.param(external({"file": f"/etc/..{OWN}"}), "daemon's own token", id="our own token, hidden"),
        pytest.param(external({"executable": {"command": "id"}}), "not supported", id="a program"),
        pytest.param(external({"file": "/x"}, token_url=EVIL), "token_url", id="token to a stranger"),
        pytest.param(
            external({"file": "/x"}, service_account_impersonation_url=EVIL),
            "impersonation_url",
            id="stranger",
        ),
        pytest.param(external({"file": "/x"}, audience=""), "audience is empty", id="audience"),
        pytest.param(
            external({"environment_id": "azure1"}), "environment_id must start with aws", id="another cloud"
        ),
        pytest.param(
            external({"environment_id": "aws1", "url": "http://10.0.0.1/x"}), "does not lead to AWS", id="AWS"
        ),
        pytest.param(external({"file": "/nonexistent/token"}), "subject token file", id="no such file"),
    ],
)
async def test_bad_configurations(cloud: Google, clock: Clock, config: object, problem: str) -> None:
    with pytest.raises(Malformed, match=problem):
        await reads(configured(config), clock, federated(cred_config=CONFIG))

    assert cloud.identity.logins == []


# -- the environment
async def test_the_machine_has_an_account(cloud: Google, clock: Clock) -> None:
    with pytest.raises(Malformed, match="logging in as the machine's service account") as caught:
        await reads(Given(), clock, ADC)
    cloud.machine.email = cloud.identity.account("machine")

    assert "write auth into the store" in caught.value.hint
    assert await reads(Given(), clock, ADC, project_id=None) == b"one"


async def test_no_machine_of_google(
    cloud: Google, clock: Clock, monkeypatch: pytest.MonkeyPatch, unused_tcp_port_factory: Callable[[], int]
) -> None:
    monkeypatch.setenv("GCE_METADATA_HOST", f"127.0.0.1:{unused_tcp_port_factory()}")
    with pytest.raises(Unavailable) as caught:
        await reads(Given(), clock, ADC)
    assert "write auth into the store" in caught.value.hint
    with pytest.raises(Unavailable) as caught:
        await reads(Given(), clock, ADC, project_id=None)
    assert "write projectID" in caught.value.hint


def _user(cloud: Google) -> dict[str, object]:
    user = User("ada@example.com")
    cloud.identity.users.append(user)
    cloud.identity.members["acme"].add(user.email)
    return {
        "type": "authorized_user",
        "client_id": user.client_id,
        "client_secret": user.client_secret,
        "refresh_token": user.refresh_token,
        "token_uri": f"{cloud.url}/token",
        "quota_project_id": "pays",
    }


def _impersonator(cloud: Google) -> dict[str, object]:
    email = cloud.identity.account("target")
    cloud.identity.impersonators[email] = {"ada@example.com"}
    usual = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts"
    return {
        "type": "impersonated_service_account",
        "service_account_impersonation_url": f"{usual}/{email}:generateAccessToken",
        "source_credentials": _user(cloud),
    }


def _key(cloud: Google) -> dict[str, Any]:
    return {**cloud.identity.key_file(cloud.identity.account("file"))}


@pytest.mark.parametrize("where", ["named", "left by gcloud"])
@pytest.mark.parametrize("made", [_key, _user, _impersonator])
async def test_files_of_credentials(
    cloud: Google,
    clock: Clock,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    where: str,
    made: Callable[[Google], dict[str, object]],
) -> None:
    file = tmp_path / "application_default_credentials.json"
    file.write_text(json.dumps(made(cloud)))
    if where == "named":
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
    else:
        monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    quota: list[str] = []

    def look(request: web.Request) -> None:
        if request.path.endswith(":access"):
            quota.append(request.headers.get("X-Goog-User-Project", ""))

    with cloud.failing(look):
        assert await reads(Given(), clock, ADC) == b"one"
    assert quota == ["pays" if made is _user else ""]


async def test_a_file_of_a_federation(
    cloud: Google, clock: Clock, issuer: Issuer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text(issuer.token(SUBJECT, "wanted", now=NOW))
    (tmp_path / "c.json").write_text(json.dumps(external({"file": str(tmp_path / "token")})))
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "c.json"))

    assert await reads(Given(), clock, ADC) == b"one"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("canary-8e", "none of Google's", id="no JSON"),
        pytest.param('{"type": "gdch_service_account"}', "kind that is not supported", id="another kind"),
        pytest.param('{"type": "authorized_user", "x": "canary-8e"}', "none of Google's", id="not whole"),
    ],
)
async def test_bad_files_of_credentials(
    cloud: Google, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    (tmp_path / "c.json").write_text(text)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "c.json"))
    with pytest.raises(Malformed, match=problem) as caught:
        await reads(Given(), clock, ADC)

    assert "canary" not in str(vars(caught.value)) + repr(caught.value.__context__)
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    with pytest.raises(Malformed, match="cannot be read"):
        await reads(Given(), clock, ADC)


# -- the generator
async def test_a_login_for_the_registry(cloud: Google, given: Given, clock: Clock) -> None:
    selector = SecretKeySelector(name="key", key="key.json")
    auth = GcrAuth(secret_ref=GcpSecretRef(secret_access_key_secret_ref=selector))
    assert GCR.generate is not None
    made = await GCR.generate(GcrAccessTokenSpec(auth=auth, project_id="acme"), context(given, now=clock))

    values = {name: value.raw.decode() for name, value in made.values.items()}
    assert values["username"] == "oauth2accesstoken"
    assert cloud.identity.tokens[values["password"]].principal == "app@acme.iam.gserviceaccount.com"
    assert (values["expiry"], made.state) == (str(int(NOW) + HOUR - 1), None)


async def test_a_workload_logs_in_to_the_registry(cloud: Google, clock: Clock, cluster: Issuer) -> None:
    email = cloud.identity.account("target")
    cloud.identity.impersonators[email] = {WORKLOAD}
    workload_identity = GcrWorkloadIdentity(
        service_account_ref=APP, cluster_location="europe-west3", cluster_name="c1"
    )
    spec = GcrAccessTokenSpec(auth=GcrAuth(workload_identity=workload_identity), project_id="acme")
    given = workload(cluster, "acme.svc.id.goog", **{ANNOTATION: email})
    assert GCR.generate is not None
    made = await GCR.generate(spec, context(given, now=clock))

    assert cloud.identity.tokens[made.values["password"].raw.decode()].principal == email
    assert made.values["expiry"].raw == str(int(NOW) + HOUR).encode()


async def test_workforces_log_in_with_their_client(
    cloud: Google, clock: Clock, issuer: Issuer, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text(issuer.token(SUBJECT, "wanted", now=NOW))
    config = external({"file": str(tmp_path / "token")}, client_id="id", client_secret="canary-8e")
    sent: list[str] = []

    def look(request: web.Request) -> None:
        if request.path == "/v1/token":
            sent.append(request.headers.get("Authorization", ""))

    with cloud.failing(look):
        await reads(configured(config), clock, federated(cred_config=CONFIG))
    assert sent == [f"Basic {b64encode(b'id:canary-8e').decode()}"]
