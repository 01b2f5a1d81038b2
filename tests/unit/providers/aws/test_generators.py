"""The generators of AWS: logins to its registries, and sessions of a user."""

from base64 import b64encode
from typing import Any

import msgspec
import pytest

from syncret.providers.aws.ecr import ECR
from syncret.providers.aws.sts import STS
from syncret.providers.contract import IssuedToken
from syncret.providers.errors import Denied, Malformed
from syncret.providers.values import SecretBytes
from tests.support.opened import NOW, Given, context
from tests.support.servers import aws
from tests.support.servers.aws import Gateway, always, gate, moto
from tests.support.servers.aws_sts import Sts, Trust

__all__ = ["gate", "moto"]  # fixtures

pytestmark = pytest.mark.slow

AUTH = {
    "secretRef": {
        "accessKeyIDSecretRef": {"name": "aws", "key": "id"},
        "secretAccessKeySecretRef": {"name": "aws", "key": "secret"},
    }
}


@pytest.fixture
def given(gate: Gateway) -> Given:
    [(key, person)] = gate.people.items()
    return Given(secrets={"aws": {"id": key.encode(), "secret": person.secret.encode()}})


async def drawn(generator: Any, given: Given, **spec: object) -> dict[str, bytes]:  # noqa: ANN401  # of either spec
    decoded = msgspec.convert({"region": aws.REGION, "auth": AUTH, **spec}, generator.spec.model)
    made = await generator.generate(decoded, context(given))
    assert made.state is None
    return {key: value.raw for key, value in made.values.items()}


async def test_a_login_to_the_own_registry(given: Given) -> None:
    values = await drawn(ECR, given)

    assert values["username"] == b"AWS"
    assert values["password"]
    assert values["proxy_endpoint"].startswith(b"https://")
    assert values["expires_at"].isdigit()


async def test_a_login_to_the_public_registry(gate: Gateway, given: Given) -> None:
    token = b64encode(b"AWS:public-password").decode()
    data = {"authorizationToken": token, "expiresAt": 1893456000}
    gate.replies["GetAuthorizationToken"] = always({"authorizationData": data})
    values = await drawn(ECR, given, scope="public")

    assert values == {"username": b"AWS", "password": b"public-password", "expires_at": b"1893456000"}
    [call] = gate.calls
    assert call.service == "ecr-public"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param([], id="none"),
        pytest.param(
            [{"authorizationToken": "Y2FuYXJ5", "expiresAt": 1.0, "proxyEndpoint": "x"}], id="no colon"
        ),
        pytest.param(
            [{"authorizationToken": "canary!", "expiresAt": 1.0, "proxyEndpoint": "x"}], id="no base64"
        ),
    ],
)
async def test_an_answer_that_is_no_login(gate: Gateway, given: Given, data: list[object]) -> None:
    gate.replies["GetAuthorizationToken"] = always({"authorizationData": data})
    with pytest.raises(Malformed) as caught:
        await drawn(ECR, given)
    assert "canary" not in f"{caught.value!r} {caught.value.__context__!r}"


async def test_a_login_in_a_role(gate: Gateway, given: Given) -> None:
    sts = Sts(gate, {"arn:aws:iam::123456789012:role/pull": Trust(("arn:aws:iam::123456789012:user/ada",))})
    gate.now = lambda: NOW
    await drawn(ECR, given, role="arn:aws:iam::123456789012:role/pull")

    assert len(sts.issued) == 1
    assert gate.calls[-1].key == "ASIATEMPORARY0000001"


async def test_a_session_of_a_user(gate: Gateway, given: Given) -> None:
    sts = Sts(gate)
    gate.now = lambda: NOW
    parameters = {
        "sessionDuration": 900,
        "serialNumber": "arn:aws:iam::123456789012:mfa/ada",
        "tokenCode": "123456",
    }
    values = await drawn(STS, given, requestParameters=parameters)

    [person] = sts.issued
    assert values == {
        "access_key_id": b"ASIATEMPORARY0000001",
        "secret_access_key": person.secret.encode(),
        "session_token": person.token.encode(),
        "expiration": str(int(NOW + sts.lifetime)).encode(),
    }
    [said] = sts.said
    assert (said["DurationSeconds"], said["TokenCode"]) == ("900", "123456")


async def test_a_session_cannot_be_had_with_a_service_account(given: Given) -> None:
    with pytest.raises(Malformed, match="jwt auth cannot be used for STS Session Token generation"):
        await drawn(STS, given, auth={"jwt": {"serviceAccountRef": {"name": "reader"}}})


async def test_a_session_that_is_refused(gate: Gateway, given: Given) -> None:
    gate.forbidden.add("GetSessionToken")
    with pytest.raises(Denied):
        await drawn(STS, given)
    given.tokens["reader"] = IssuedToken(SecretBytes(b"x"), NOW)
