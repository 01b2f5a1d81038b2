"""The generator GCRAccessToken: a login to Google's container registries."""

from collections.abc import Iterator
from typing import Final

import msgspec

from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.providers.contract import Generated, Generator, OpenContext, Receiver
from syncret.providers.gcpsm.receivers import NAME, names_credentials
from syncret.providers.gcpsm.spec import GkeWorkloadIdentity, GoogleAuth
from syncret.providers.values import SecretBytes

_HOUR: Final = 3600
_LOGIN: Final = "a login as the daemon's own identity at Google, whose access token becomes the value,"


class GcrAuth(GoogleAuth[GkeWorkloadIdentity]):
    """How to log in to Google; empty: application default credentials.

    Example: {secretRef: {secretAccessKeySecretRef: {name: google-login, key: key.json}}}
    """


class GcrAccessTokenSpec(Model):
    """A token of about an hour, as user name and password.

    Example: {projectID: acme, auth: {}}
    """

    auth: GcrAuth
    """Who asks for the token."""
    project_id: str = msgspec.field(name="projectID")
    """Project that the identity belongs to. Example: acme"""


async def generate(spec: GcrAccessTokenSpec, context: OpenContext) -> Generated:
    """A login for the registry. The token ends by itself; there is nothing to clean up."""
    from syncret.providers.gcpsm.auth import choose_login, open_login_context  # imports asyncio and TLS

    async with open_login_context(context) as login_context:
        login = await choose_login(spec.auth, spec.project_id, receivers(spec), login_context)
        token = await context.log_in(login)
    # A token without an expiry is assumed to expire in an hour.
    expiry = int(token.expires if token.expires is not None else context.now() + _HOUR)
    values = {
        "username": b"oauth2accesstoken",
        "password": token.value.token.raw,
        "expiry": str(expiry).encode(),
    }
    return Generated({name: SecretBytes(value) for name, value in values.items()})


def receivers(spec: GcrAccessTokenSpec) -> Iterator[Receiver]:
    """Google's token server, unless the generator names credentials; the token itself becomes the value."""
    if not names_credentials(spec.auth):
        yield Receiver(NAME, "https://oauth2.googleapis.com", _LOGIN, "auth")


GCR: Final = Generator(SpecType("GCRAccessToken", GcrAccessTokenSpec), generate=generate, receivers=receivers)
