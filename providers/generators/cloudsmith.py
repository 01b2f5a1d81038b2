"""The generator CloudsmithAccessToken: exchanges a ServiceAccount's token for one of Cloudsmith."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, ServiceAccountSelector
from syncret.providers.contract import Generator


class CloudsmithAccessTokenSpec(Model):
    """Exchanges the token of a Kubernetes ServiceAccount (OIDC) for one of a Cloudsmith service."""

    org_slug: str
    service_slug: str
    service_account_ref: ServiceAccountSelector
    api_url: str = ""
    """Absent: https://api.cloudsmith.io."""


GENERATOR: Final = Generator(SpecType("CloudsmithAccessToken", CloudsmithAccessTokenSpec))
