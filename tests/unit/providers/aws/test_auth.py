"""Who a store is to AWS: every way to get credentials, verified by servers that verify."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from syncret.config.catalog import Scope
from syncret.config.fields import SecretKeySelector, ServiceAccountSelector
from syncret.providers.aws import AwsClient, open_aws
from syncret.providers.aws.spec import AwsAuth, AwsJwtAuth, AwsSecretRef, AwsSpec, SessionTag
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.values import RemoteKey, SecretBytes
from tests.support.opened import NOW, Clock, Given, context
from tests.support.servers import aws
from tests.support.servers.aws import Gateway, Person, gate, moto
from tests.support.servers.aws_metadata import POD_TOKEN, Metadata, metadata
from tests.support.servers.aws_sts import ISSUER, Sts, Trust

__all__ = ["gate", "moto"]  # fixtures

pytestmark = pytest.mark.slow

ADA = "arn:aws:iam::123456789012:user/ada"
FIRST = "arn:aws:iam::123456789012:role/first"
SECOND = "arn:aws:iam::123456789012:role/second"
ACCOUNT = "system:serviceaccount:default:reader"
KEY = RemoteKey("db")
HERE = Scope(cluster=False, namespace="default")
FACTS = {"esoNamespace": "team-a", "esoStoreName": "test", "esoStoreKind": "ClusterSecretStore"}


@pytest.fixture
def clock(gate: Gateway) -> Clock:
    clock = gate.now = Clock()
    return clock


@pytest.fixture
def sts(gate: Gateway, clock: Clock) -> Sts:
    return Sts(gate)


@pytest.fixture
def given(gate: Gateway) -> Given:
    [(key, person)] = gate.people.items()
    return Given(secrets={"aws": {"id": key.encode(), "secret": person.secret.encode()}})


Open = Callable[..., AbstractAsyncContextManager[AwsClient]]


@pytest.fixture
async def opened(gate: Gateway, given: Given, clock: Clock) -> Open:
    await gate.behind("secretsmanager", "CreateSecret", Name="db", SecretString="value")

    def opened(
        auth: AwsAuth,
        scope: Scope = HERE,
        **spec: Any,  # noqa: ANN401  # fields of the spec
    ) -> AbstractAsyncContextManager[AwsClient]:
        whole = AwsSpec(service="SecretsManager", region=aws.REGION, auth=auth, **spec)
        return open_aws(whole, context(given, now=clock, scope=scope))

    return opened


def static(*, token: bool = False) -> AwsAuth:
    return AwsAuth(
        secret_ref=AwsSecretRef(
            access_key_id_secret_ref=SecretKeySelector(name="aws", key="id"),
            secret_access_key_secret_ref=SecretKeySelector(name="aws", key="secret"),
            session_token_secret_ref=SecretKeySelector(name="aws", key="token") if token else None,
        )
    )


def irsa(*audiences: str) -> AwsAuth:
    account = ServiceAccountSelector(name="reader", audiences=audiences)
    return AwsAuth(jwt=AwsJwtAuth(service_account_ref=account))


async def read(client: AwsClient) -> SecretBytes | SyncError | None:
    return (await client.fetch([KEY])).get(KEY)


VALUE = SecretBytes(b"value")


# -- keys in Secrets
async def test_temporary_keys_in_a_secret(gate: Gateway, given: Given, opened: Open, clock: Clock) -> None:
    gate.people["ASIATEMP"] = Person(ADA, "temp-secret", "temp-token", NOW + 60)
    given.secrets["aws"] = {"id": b"ASIATEMP\n", "secret": b"temp-secret", "token": b"temp-token"}
    async with opened(static(token=True)) as client:
        before = await read(client)
        clock.time += 61
        after = await read(client)

    assert before == VALUE
    assert isinstance(after, Denied)
    assert after.message == (
        "logging in by auth.secretRef: GetSecretValue was refused: ExpiredTokenException (HTTP 403)"
    )
    assert after.hint.startswith("check auth.secretRef.sessionTokenSecretRef: the credentials have expired")
    assert "temp-token" not in f"{after!r} {after.__context__!r}"


@pytest.mark.parametrize(
    ("secrets", "message"),
    [
        pytest.param({}, "there is no key", id="no Secret"),
        pytest.param({"id": b"x", "secret": b""}, "secretAccessKeySecretRef: the value is empty", id="empty"),
        pytest.param(
            {"id": b"\xff", "secret": b"x"},
            "accessKeyIDSecretRef: the value is empty or no text",
            id="binary",
        ),
    ],
)
async def test_keys_that_cannot_be_used(
    given: Given, opened: Open, secrets: dict[str, bytes], message: str
) -> None:
    given.secrets["aws"] = secrets
    with pytest.raises(Malformed, match=message):
        async with opened(static()):
            pass


async def test_keys_that_aws_does_not_know(given: Given, opened: Open) -> None:
    given.secrets["aws"] = {"id": b"AKIANOBODY", "secret": b"canary-0f"}
    async with opened(static()) as client:
        answer = await read(client)

    assert isinstance(answer, Denied)
    assert answer.message == (
        "logging in by auth.secretRef: GetSecretValue was refused: UnrecognizedClientException (HTTP 403)"
    )
    assert answer.hint == ("check auth.secretRef.accessKeyIDSecretRef: AWS does not know these credentials")
    assert "NOBODY" not in str(answer)


async def test_a_wrong_secret_key(given: Given, opened: Open) -> None:
    given.secrets["aws"] = {**given.secrets["aws"], "secret": b"canary-0f"}
    async with opened(static()) as client:
        answer = await read(client)

    assert isinstance(answer, Denied)
    assert answer.hint.startswith("check auth.secretRef.secretAccessKeySecretRef: ")
    assert "canary" not in f"{answer} {answer.hint}"


async def test_keys_that_may_not_even_assume_a_role(sts: Sts, given: Given, opened: Open) -> None:
    sts.roles = {FIRST: Trust((ADA,))}
    given.secrets["aws"] = {"id": b"AKIANOBODY", "secret": b"canary-0f"}
    with pytest.raises(Denied, match=r"logging in by auth\.secretRef: AssumeRole was refused") as caught:
        async with opened(static(), role=FIRST):
            pass

    assert caught.value.hint.startswith("check auth.secretRef.accessKeyIDSecretRef: ")


# -- roles
async def test_a_chain_of_roles(sts: Sts, gate: Gateway, opened: Open) -> None:
    sts.roles = {FIRST: Trust((ADA,)), SECOND: Trust((FIRST,), external_id="ours")}
    tags = (SessionTag(key="team", value="a"), SessionTag(key="stage", value="prod"))
    async with opened(
        static(),
        additional_roles=(FIRST,),
        role=SECOND,
        external_id="ours",
        session_tags=tags,
        transitive_tag_keys=("team",),
    ) as client:
        assert await read(client) == VALUE

    assert [said["RoleArn"] for said in sts.said] == [FIRST, SECOND]
    assert "ExternalId" not in sts.said[0]
    assert sts.said[1]["TransitiveTagKeys.member.1"] == "team"
    assert sts.issued[1].tags == {"team": "a", "stage": "prod"}
    assert sts.said[1]["RoleSessionName"] == "syncret-test"
    assert gate.calls[-1].key == "ASIATEMPORARY0000002"


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("None", {"mine": "x"}, id="none"),
        pytest.param("Simple", FACTS, id="simple"),
        pytest.param("Custom", FACTS | {"cost": "7"}, id="custom"),
    ],
)  # fmt: skip
async def test_tags_that_say_who_asks(sts: Sts, opened: Open, policy: str, expected: dict[str, str]) -> None:
    sts.roles = {FIRST: Trust((ADA,))}
    async with opened(
        static(),
        Scope(cluster=True, namespace="team-a"),
        role=FIRST,
        session_tags=(SessionTag(key="mine", value="x"),),
        session_tags_policy=policy,
        custom_session_tags={"cost": "7", "empty": ""},
    ):
        pass

    assert sts.issued[0].tags == expected


@pytest.mark.parametrize(
    "trust",
    [
        pytest.param(Trust(), id="not trusted"),
        pytest.param(Trust((ADA,), external_id="theirs"), id="another external ID"),
        pytest.param(Trust((ADA,), external_id="ours", tags=False), id="no tags"),
    ],
)
async def test_a_role_that_may_not_be_taken_on(sts: Sts, opened: Open, trust: Trust) -> None:
    sts.roles = {FIRST: trust}
    with pytest.raises(Denied, match=f"the role {FIRST} cannot be assumed") as caught:
        async with opened(
            static(), role=FIRST, external_id="ours", session_tags=(SessionTag(key="team", value="a"),)
        ):
            pass

    assert "AccessDenied (HTTP 403)" in caught.value.message
    assert caught.value.hint.startswith("check role: its trust policy must name who asks")
    assert "not authorized" not in f"{caught.value} {caught.value.__context__}"


async def test_a_session_is_renewed_before_it_ends_and_not_earlier(
    sts: Sts, gate: Gateway, opened: Open, clock: Clock
) -> None:
    sts.roles = {FIRST: Trust((ADA,))}
    async with opened(static(), role=FIRST) as client:
        for _ in range(3):
            assert await read(client) == VALUE
        begun = len(sts.issued)
        clock.time += sts.lifetime - 30
        assert await read(client) == VALUE
        renewed = len(sts.issued)

    assert (begun, renewed) == (1, 2)
    assert gate.calls[-1].key == "ASIATEMPORARY0000002"


async def test_a_session_that_ends_early_is_replaced(
    sts: Sts, gate: Gateway, opened: Open, clock: Clock
) -> None:
    sts.roles = {FIRST: Trust((ADA,))}
    async with opened(static(), role=FIRST) as client:
        gate.people["ASIATEMPORARY0000001"] = sts.issued[0]._replace(expires=clock.time)
        with pytest.raises(Unavailable):
            await read(client)
        assert await read(client) == VALUE


# -- ServiceAccounts
def account(
    given: Given,
    sts: Sts,
    *audiences: str,
    subject: str = ACCOUNT,
    issuer: str = ISSUER,
    expires: float = NOW + 600,
) -> None:
    token = sts.issuer.token(subject, *(audiences or ("sts.amazonaws.com",)), issuer=issuer, expires=expires)
    given.tokens["reader"] = IssuedToken(SecretBytes(token), NOW + 600)
    given.annotations["reader"] = {"eks.amazonaws.com/role-arn": FIRST}


async def test_the_role_of_a_service_account(sts: Sts, given: Given, opened: Open, clock: Clock) -> None:
    sts.roles = {FIRST: Trust(subjects=(ACCOUNT,)), SECOND: Trust((FIRST,))}
    account(given, sts)
    async with opened(irsa("mine"), role=SECOND) as client:
        assert await read(client) == VALUE
        clock.time += sts.lifetime - 10
        account(given, sts, expires=clock.time + 600)
        assert await read(client) == VALUE

    assert [said["RoleArn"] for said in sts.said] == [FIRST, SECOND] * 2
    assert sts.said[0]["RoleSessionName"] == "external-secrets-provider-aws"
    assert [asked[:2] for asked in given.asked] == [("reader", ("sts.amazonaws.com", "mine"))] * 2


async def test_an_audience_of_its_own(sts: Sts, given: Given, opened: Open) -> None:
    sts.roles = {FIRST: Trust(subjects=(ACCOUNT,), audience="other")}
    account(given, sts, "other")
    given.annotations["reader"] |= {"eks.amazonaws.com/audience": "other"}  # type: ignore[operator]  # a dict here
    async with opened(irsa()) as client:
        assert await read(client) == VALUE

    assert given.asked[0][1] == ("other",)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"subject": "system:serviceaccount:default:other"}, id="another account"),
        pytest.param({"issuer": "https://elsewhere"}, id="another issuer"),
        pytest.param({"expires": NOW - 1}, id="expired"),
    ],
)
async def test_a_token_that_is_not_trusted(
    sts: Sts, given: Given, opened: Open, wrong: dict[str, Any]
) -> None:
    sts.roles = {FIRST: Trust(subjects=(ACCOUNT,))}
    account(given, sts, **wrong)
    with pytest.raises(Denied, match='service account "reader" may not assume the role') as caught:
        async with opened(irsa()):
            pass

    assert "(HTTP 4" in caught.value.message
    assert caught.value.hint.startswith("check auth.jwt.serviceAccountRef: the role's trust policy")
    assert given.tokens["reader"].token.raw.decode() not in f"{caught.value!r} {caught.value.__context__!r}"


async def test_a_service_account_without_a_role(sts: Sts, given: Given, opened: Open) -> None:
    account(given, sts)
    given.annotations.clear()
    with pytest.raises(Malformed, match="an IAM role must be associated with service account"):
        async with opened(irsa()):
            pass


# -- what the daemon has itself
@pytest.fixture
async def machine(gate: Gateway) -> AsyncGenerator[tuple[Metadata, str], None]:
    async with metadata(gate) as (server, address):
        yield server, address


async def test_no_credentials(opened: Open) -> None:
    with pytest.raises(Denied, match="no AWS credentials were found") as caught:
        async with opened(AwsAuth()):
            pass
    assert "write auth" in caught.value.hint


async def test_the_environment(opened: Open, given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", given.secrets["aws"]["id"].decode())
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", given.secrets["aws"]["secret"].decode())
    async with opened(AwsAuth()) as client:
        assert await read(client) == VALUE


async def test_a_profile(opened: Open, given: Given, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key, secret = (given.secrets["aws"][name].decode() for name in ("id", "secret"))
    file = tmp_path / "credentials"
    file.write_text(f"[team]\naws_access_key_id = {key}\naws_secret_access_key = {secret}\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    monkeypatch.setenv("AWS_PROFILE", "team")
    async with opened(AwsAuth()) as client:
        assert await read(client) == VALUE


async def test_the_metadata_of_an_instance(
    opened: Open, machine: tuple[Metadata, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, address = machine
    monkeypatch.delenv("AWS_EC2_METADATA_DISABLED")
    monkeypatch.setenv("AWS_EC2_METADATA_SERVICE_ENDPOINT", address)
    async with opened(AwsAuth()) as client:
        assert [await read(client), await read(client)] == [VALUE, VALUE]

    assert server.given == 1


async def test_pod_identity_and_its_renewal(
    opened: Open, machine: tuple[Metadata, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, address = machine
    server.minutes = 5
    token = tmp_path / "token"
    token.write_text(POD_TOKEN)
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{address}/v1/credentials")
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(token))
    async with opened(AwsAuth()) as client:
        first = server.given
        assert await read(client) == VALUE
        assert server.given > first


async def test_pod_identity_that_is_refused(
    opened: Open, machine: tuple[Metadata, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = tmp_path / "token"
    token.write_text("canary-token")
    monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{machine[1]}/v1/credentials")
    monkeypatch.setenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", str(token))
    with pytest.raises(SyncError) as caught:
        async with opened(AwsAuth()):
            pass

    assert isinstance(caught.value, Unavailable)
    assert "canary" not in f"{caught.value!r} {caught.value.__context__!r}"
