"""The generator STSSessionToken: temporary AWS credentials."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.config.fields import Int32, Model
from syncret.providers.aws.spec import AwsAuth
from syncret.providers.contract import Generator


class StsRequestParameters(Model):
    """What GetSessionToken is asked with."""

    session_duration: Int32 | None = None
    """In seconds; absent: as AWS sees fit."""
    serial_number: str = ""
    """The MFA device of the user who asks."""
    token_code: str = ""
    """What that device shows."""


class StsSessionTokenSpec(Model):
    """A session of an IAM user; its credentials end with it."""

    region: str
    auth: AwsAuth | None = None
    """Static credentials: a session cannot be asked for with a ServiceAccount's role."""
    role: str = ""
    """A role that is assumed first."""
    request_parameters: StsRequestParameters | None = None


STS: Final = Generator(SpecType("STSSessionToken", StsSessionTokenSpec))
