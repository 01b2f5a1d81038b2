"""The generator QuayAccessToken: exchanges a ServiceAccount's token for a login to a Quay registry."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, ServiceAccountSelector
from syncret.providers.contract import Generator


class QuayAccessTokenSpec(Model):
    """Exchanges the token of a Kubernetes ServiceAccount (OIDC) for one of a robot account."""

    robot_account: str
    service_account_ref: ServiceAccountSelector
    url: str = ""
    """The registry's host, without a scheme; absent: quay.io."""


GENERATOR: Final = Generator(SpecType("QuayAccessToken", QuayAccessTokenSpec))
