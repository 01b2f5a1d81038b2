"""The three services of AWS pass the suite, on moto behind a gateway that verifies every signature."""

from base64 import b64decode
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, ClassVar

import pytest

from syncret.config.fields import SecretKeySelector
from syncret.providers.aws import PROVIDER
from syncret.providers.aws.sdk import ServiceApi
from syncret.providers.aws.spec import AwsAuth, AwsSecretRef, AwsSpec
from syncret.providers.contract import Client
from syncret.providers.testing import Ability, Entry, Harness, HoldsText, ProviderSuite, harness
from syncret.providers.testing.finding import Senders
from tests.suites.providers import aws_certificates
from tests.suites.providers.aws_certificates import Certificates
from tests.support.opened import Given, context
from tests.support.servers import aws
from tests.support.servers.aws import Gateway, gated, moto

__all__ = ["moto"]  # a fixture

pytestmark = pytest.mark.slow

FAULTS: Mapping[harness.Fault, aws.Fault] = {
    harness.Fault.THROTTLE: aws.Fault(400, "ThrottlingException", "Rate exceeded"),
    harness.Fault.DENY: aws.Fault(400, "AccessDeniedException", "no identity-based policy allows it"),
    harness.Fault.TIME_OUT: aws.SILENCE,
}

AUTH = AwsAuth(
    secret_ref=AwsSecretRef(
        access_key_id_secret_ref=SecretKeySelector(name="aws", key="id"),
        secret_access_key_secret_ref=SecretKeySelector(name="aws", key="secret"),
    )
)


class AwsHarness(HoldsText):
    """What the harnesses of the three services share."""

    service: Any
    lacks: Mapping[Ability, str] = {}

    def __init__(self, gate: Gateway) -> None:
        self.gate = gate
        [(key, person)] = gate.people.items()
        secret = person.secret
        self.given = Given(secrets={"aws": {"id": key.encode(), "secret": secret.encode()}})
        self.canaries: tuple[str, ...] = (key, secret, "no identity-based policy", "Rate exceeded")

    async def writes(self) -> int:
        return self.gate.writes()

    def open(self) -> AbstractAsyncContextManager[Client]:
        spec = AwsSpec(service=self.service, region=aws.REGION, auth=AUTH)
        assert PROVIDER.open is not None
        return PROVIDER.open(spec, context(self.given))

    @contextmanager
    def broken(self, fault: harness.Fault) -> Generator[None, None, None]:
        self.gate.fault = FAULTS[fault]
        yield
        self.gate.fault = None

    @contextmanager
    def refusing(self, key: str) -> Generator[None, None, None]:
        self.gate.refused.add(key)
        yield
        self.gate.refused.clear()

    async def rotate(self) -> None:
        other = "other-secret-access-key-77"
        self.gate.people = {"AKIAOTHEROTHEROTHER1": aws.Person("arn:aws:iam::123456789012:user/eve", other)}
        self.given.secrets["aws"] = {"id": b"AKIAOTHEROTHEROTHER1", "secret": other.encode()}


class SecretsManagerHarness(AwsHarness):
    service = "SecretsManager"
    versions: tuple[str, str] = ("AWSPREVIOUS", "AWSCURRENT")

    async def seed(self, *entries: Entry) -> None:
        known: set[str] = set()
        for entry in entries:
            if entry.key in known:
                await self.gate.behind(
                    "secretsmanager", "PutSecretValue", SecretId=entry.key, **_value(entry)
                )
                continue
            known.add(entry.key)
            tags = [{"Key": key, "Value": value} for key, value in entry.tags.items()]
            await self.gate.behind(
                "secretsmanager", "CreateSecret", Name=entry.key, Tags=tags, **_value(entry)
            )

    async def stored(self, key: str) -> bytes | None:
        answer = await self.gate.behind("secretsmanager", "GetSecretValue", SecretId=key)
        if "SecretString" in answer:
            return str(answer["SecretString"]).encode()
        return b64decode(answer["SecretBinary"]) if "SecretBinary" in answer else None


def _value(entry: Entry) -> dict[str, str]:
    return {"SecretString": entry.value.decode()}


class ParameterStoreHarness(AwsHarness):
    service = "ParameterStore"
    versions: tuple[str, str] = ("1", "2")
    lacks: Mapping[Ability, str] = {
        Ability.PUSH_PROPERTY: "ESO writes a parameter whole, whatever the property",
        Ability.DELETE_PROPERTY: "ESO deletes a parameter whole, whatever the property",
    }

    def key(self, name: str) -> str:
        return f"/{name}"  # only names that begin so have paths

    async def seed(self, *entries: Entry) -> None:
        known: set[str] = set()
        for entry in entries:
            tags = [{"Key": key, "Value": value} for key, value in entry.tags.items()]
            await self.gate.behind(
                "ssm",
                "PutParameter",
                Name=entry.key,
                Value=entry.value.decode(),
                Type="SecureString",
                **({"Overwrite": True} if entry.key in known else {"Tags": tags}),
            )
            known.add(entry.key)

    async def stored(self, key: str) -> bytes | None:
        answer = await self.gate.behind("ssm", "GetParameter", Name=key, WithDecryption=True)
        return str(answer["Parameter"]["Value"]).encode() if "Parameter" in answer else None


class CertificateManagerHarness(AwsHarness):
    service = "CertificateManager"
    versions: tuple[str, str] = ("", "")
    lacks = aws_certificates.LACKS

    def __init__(self, gate: Gateway) -> None:
        super().__init__(gate)
        self.certificates = Certificates(gate)

    def whole(self, text: str) -> bytes:
        return aws_certificates.bundle(text)

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            await self.certificates.seed(entry)

    async def stored(self, key: str) -> bytes | None:
        return await self.certificates.stored(key)

    def open(self) -> AbstractAsyncContextManager[Client]:
        return aws_certificates.adapted(super().open(), self.certificates)

    @contextmanager
    def refusing(self, key: str) -> Generator[None, None, None]:
        with super().refusing(self.certificates.arns[key]):
            yield


@asynccontextmanager
async def _opened(
    made: Callable[[Gateway], Harness], moto: str, patch: pytest.MonkeyPatch
) -> AsyncGenerator[Harness]:
    async with gated(moto, patch) as gate:
        yield made(gate)


class _OnAws(ProviderSuite):
    senders: ClassVar[Senders] = ((ServiceApi, "call"),)


class TestSecretsManager(_OnAws):
    @pytest.fixture
    def harness(self, moto: str, monkeypatch: pytest.MonkeyPatch) -> AbstractAsyncContextManager[Harness]:
        return _opened(SecretsManagerHarness, moto, monkeypatch)


class TestParameterStore(_OnAws):
    @pytest.fixture
    def harness(self, moto: str, monkeypatch: pytest.MonkeyPatch) -> AbstractAsyncContextManager[Harness]:
        return _opened(ParameterStoreHarness, moto, monkeypatch)


class TestCertificateManager(_OnAws):
    @pytest.fixture
    def harness(self, moto: str, monkeypatch: pytest.MonkeyPatch) -> AbstractAsyncContextManager[Harness]:
        return _opened(CertificateManagerHarness, moto, monkeypatch)
