"""The generator BeyondtrustWorkloadCredentialsDynamicSecret: temporary credentials, leased by BeyondTrust."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.config.resources.secret_store import RetrySettings
from syncret.providers.beyondtrustworkloadcredentials.spec import BeyondTrustWorkloadCredentialsSpec
from syncret.providers.contract import Generator


class WorkloadCredentialsDynamicSecretSpec(Model):
    """A lease of one dynamic secret, which the last part of the provider's `folderPath` names."""

    provider: BeyondTrustWorkloadCredentialsSpec
    retry_settings: RetrySettings | None = None
    controller: str = ""


DYNAMIC_SECRET: Final = Generator(
    SpecType("BeyondtrustWorkloadCredentialsDynamicSecret", WorkloadCredentialsDynamicSecretSpec)
)
