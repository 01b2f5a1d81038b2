"""The generator STSSessionToken: temporary AWS credentials."""

from collections.abc import Iterator
from typing import Any, Final

from syncret.config.catalog import SpecType
from syncret.config.fields import Int32, Model
from syncret.providers.aws.extra import needs_sdk
from syncret.providers.aws.receivers import of_generator
from syncret.providers.aws.spec import AwsAuth, AwsGeneratorSpec
from syncret.providers.contract import Generated, Generator, OpenContext, Receiver
from syncret.providers.errors import Malformed
from syncret.providers.values import SecretBytes


class StsRequestParameters(Model):
    """The parameters of AWS's call GetSessionToken.

    Example: {sessionDuration: 3600}
    """

    session_duration: Int32 | None = None
    """Seconds that the session lasts; absent: AWS's twelve hours. Refresh sooner than that. Example: 3600"""
    serial_number: str = ""
    """ARN or serial number of the user's MFA device, if the user needs one.
    Example: arn:aws:iam::123456789012:mfa/ada"""
    token_code: str = ""
    """Code that the device shows: good for one call, so it only suits a single sync. Example: '123456'"""


class StsSessionTokenSpec(AwsGeneratorSpec):
    """A session of an IAM user; the credentials expire with it.

    Example: {region: eu-west-1}
    """

    auth: AwsAuth | None = None
    """The user's access key: a role, such as a ServiceAccount's, cannot ask for such a session."""
    request_parameters: StsRequestParameters | None = None
    """How long the session lasts, and the user's MFA."""


async def generate(spec: StsSessionTokenSpec, context: OpenContext) -> Generated:
    """Credentials of a session. Raises SyncError."""
    if spec.auth is not None and spec.auth.jwt is not None:
        raise Malformed(
            "jwt auth cannot be used for STS Session Token generation", hint="give the keys of a user"
        )
    with needs_sdk():
        from syncret.providers.aws import identity, sdk

    caller = await identity.credentials_of_generator(spec, receivers(spec), context)
    await sdk.check_credentials(caller, spec.region)
    request = spec.request_parameters or StsRequestParameters()
    parameters: dict[str, object] = {
        "DurationSeconds": request.session_duration,
        "SerialNumber": request.serial_number or None,
        "TokenCode": request.token_code or None,
    }
    present = {name: value for name, value in parameters.items() if value is not None}
    async with sdk.open_client("sts", spec.region, caller, context.network) as api:
        credentials: dict[str, Any] | None = (await api.call("get_session_token", **present)).get(
            "Credentials"
        )
    if not credentials:
        raise Malformed("no credentials found", hint="is there a proxy, or a wrong endpoint?")
    values = {
        "access_key_id": credentials["AccessKeyId"],
        "secret_access_key": credentials["SecretAccessKey"],
        "session_token": credentials["SessionToken"],
        "expiration": str(int(credentials["Expiration"].timestamp())),
    }
    return Generated({key: SecretBytes(str(value).encode()) for key, value in values.items()})


def receivers(spec: StsSessionTokenSpec) -> Iterator[Receiver]:
    """AWS's token service, unless the generator names credentials."""
    return of_generator(spec.auth, spec.role, spec.region, "sts")


STS: Final = Generator(
    SpecType("STSSessionToken", StsSessionTokenSpec), generate=generate, receivers=receivers
)
