"""Amazon Web Services: Secrets Manager, Parameter Store and Certificate Manager.

spec             the spec of a store, its rules           push_specs   the metadata of a PushSecret
auth/            credentials: static, assumed roles       sdk          the SDK: nothing else imports it
service          what the three clients share             reading      reads in batches; properties of values
secrets_manager, parameter_store, certificate_manager     the client and the writer of each service
errors, codes    errors of the SDK and of AWS as ours     ecr, sts     the generators
receivers        where the daemon's own identity would go   extra   that of the wheel which has the SDK
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final, TypeAlias

from syncret.config.catalog import SpecType
from syncret.providers.api_names import ApiNames
from syncret.providers.aws.certificate_manager import CertificateManagerClient, CertificateManagerWriter
from syncret.providers.aws.extra import needs_sdk
from syncret.providers.aws.parameter_store import ParameterStoreClient, ParameterStoreWriter
from syncret.providers.aws.receivers import receivers
from syncret.providers.aws.secrets_manager import BATCH, SecretsManagerClient, SecretsManagerWriter
from syncret.providers.aws.spec import AwsSpec, check, depends_on_namespace
from syncret.providers.contract import OpenContext, Provider
from syncret.providers.kit.environment import ADDRESSES

AwsClient: TypeAlias = SecretsManagerClient | ParameterStoreClient | CertificateManagerClient

_SERVICES: Final = {
    "SecretsManager": "secretsmanager",
    "ParameterStore": "ssm",
    "CertificateManager": "acm",
}


@asynccontextmanager
async def open_aws(spec: AwsSpec, context: OpenContext) -> AsyncGenerator[AwsClient, None]:
    """Open the client of the store's service, after getting credentials."""
    with needs_sdk():
        from syncret.providers.aws import identity, sdk

    caller = await identity.credentials_of_store(spec, context)
    login = partial(sdk.check_credentials, caller, spec.region)
    await login()
    prefix = spec.prefix or ""
    async with sdk.open_client(_SERVICES[spec.service], spec.region, caller, context.network) as api:
        match spec.service:
            case "SecretsManager":
                secrets = SecretsManagerWriter(
                    api, spec.secrets_manager, context.credentials, context.compute
                )
                yield SecretsManagerClient(api, secrets, prefix=prefix, login=login)
            case "ParameterStore":
                parameters = ParameterStoreWriter(api, context.compute)
                yield ParameterStoreClient(api, parameters, prefix=prefix, login=login)
            case "CertificateManager":
                async with sdk.open_client(
                    "resourcegroupstaggingapi", spec.region, caller, context.network
                ) as tagging:
                    certificates = CertificateManagerWriter(api, tagging, context.compute)
                    yield CertificateManagerClient(api, certificates, prefix=prefix, login=login)


_API: Final = {
    "SecretsManager": ApiNames(
        "AWS/SecretsManager",
        read="GetSecretValue",
        batch="BatchGetSecretValue",
        metadata="DescribeSecret",
        find="ListSecrets",
        push="PutSecretValue",
        delete="DeleteSecret",
    ),
    "ParameterStore": ApiNames(
        "AWS/ParameterStore",
        read="GetParameter",
        batch="GetParameters",
        metadata="ListTagsForResource",
        find="GetParametersByPath",
        find_tags="DescribeParameter",
        push="PutParameter",
        delete="DeleteParameter",
    ),
    "CertificateManager": ApiNames(
        "AWS/CertificateManager",
        read="ExportCertificate",
        push="ImportCertificate",
        delete="DeleteCertificate",
        exists="GetResources",
    ),
}

_RATES: Final = {
    "SecretsManager": ("AWS_SECRETSMANAGER_ENDPOINT", 100.0),
    "ParameterStore": ("AWS_SSM_ENDPOINT", 40.0),
}
"""Batches and pages of Secrets Manager; reads and writes of parameters at the standard throughput.

https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_limits.html, /general/latest/gr/ssm.html
"""


def published_rate(spec: AwsSpec) -> float | None:
    """AWS's default quota of an account and region, if the service is AWS's own."""
    if spec.service not in _RATES:
        return None
    variable, rate = _RATES[spec.service]
    return None if ADDRESSES.get(variable) else rate


PROVIDER: Final = Provider(
    SpecType("aws", AwsSpec, check=check, gjson_properties=True),
    open=open_aws,
    batch_size=BATCH,
    by_namespace=depends_on_namespace,
    receivers=receivers,
    published_rate=published_rate,
    api_names=lambda spec: _API[spec.service],
)
