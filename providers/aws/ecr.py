"""The generator ECRAuthorizationToken: a login to Amazon's container registry."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.providers.aws.spec import AwsAuth
from syncret.providers.contract import Generator


class EcrAuthorizationTokenSpec(Model):
    """User name and password for the registry of one region, good for twelve hours."""

    region: str
    auth: AwsAuth | None = None
    role: str = ""
    """A role that is assumed first."""
    scope: str = ""
    """`public` logs in to the public registry instead; anything else to the account's own."""


ECR: Final = Generator(SpecType("ECRAuthorizationToken", EcrAuthorizationTokenSpec))
