"""Clients of AWS, at servers behind a gate."""

from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, TypeAlias

import pytest

from syncret.config.fields import SecretKeySelector
from syncret.providers.aws import AwsClient, open_aws
from syncret.providers.aws.spec import AwsAuth, AwsSecretRef, AwsSpec
from tests.support.opened import Given, context
from tests.support.servers import aws
from tests.support.servers.aws import Gateway, gate, moto
from tests.unit.providers.aws.support import Open

__all__ = ["gate", "moto"]  # fixtures

Service: TypeAlias = Literal["SecretsManager", "ParameterStore", "CertificateManager"]
AUTH = AwsAuth(
    secret_ref=AwsSecretRef(
        access_key_id_secret_ref=SecretKeySelector(name="aws", key="id"),
        secret_access_key_secret_ref=SecretKeySelector(name="aws", key="secret"),
    )
)


@pytest.fixture
def given(gate: Gateway) -> Given:
    [(key, person)] = gate.people.items()
    return Given(secrets={"aws": {"id": key.encode(), "secret": person.secret.encode()}})


@pytest.fixture
def opened(given: Given) -> Open:
    def opened(
        service: Service = "SecretsManager",
        region: str = aws.REGION,
        **spec: Any,  # noqa: ANN401  # fields of the spec
    ) -> AbstractAsyncContextManager[AwsClient]:
        return open_aws(AwsSpec(service=service, region=region, auth=AUTH, **spec), context(given))

    return opened
