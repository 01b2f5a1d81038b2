"""Amazon Web Services: Secrets Manager, Parameter Store and Certificate Manager.

spec            what a store says                       api        what the services know of the SDK
auth/           who the store is to AWS                  sdk        the SDK itself: nothing else imports it
secrets_manager, parameter_store, certificate_manager   one client a service, and beside each how it writes
ecr, sts        the generators
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.aws.secrets_manager import BATCH, SecretsManagerClient
from syncret.providers.aws.secrets_manager_push import SecretsManagerWriter
from syncret.providers.aws.spec import AwsSpec, check
from syncret.providers.contract import OpenContext, Provider


@asynccontextmanager
async def open_aws(spec: AwsSpec, context: OpenContext) -> AsyncGenerator[SecretsManagerClient, None]:
    """The client of the store's service, once there are credentials."""
    from syncret.providers.aws import sdk  # the SDK takes a quarter of a second to import
    from syncret.providers.aws.auth import who

    caller = await who.of_store(spec, context)
    login = partial(sdk.login, caller, spec.region)
    await login()
    prefix = spec.prefix or ""
    async with sdk.opened("secretsmanager", spec.region, caller) as api:
        writer = SecretsManagerWriter(api, spec.secrets_manager, context.credentials)
        yield SecretsManagerClient(api, writer, prefix=prefix, login=login)


PROVIDER: Final = Provider(SpecType("aws", AwsSpec, check=check), open=open_aws, batch_size=BATCH)
