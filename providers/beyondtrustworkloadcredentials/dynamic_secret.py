"""The generator BeyondtrustWorkloadCredentialsDynamicSecret: temporary credentials, leased by BeyondTrust."""

from typing import Final

import msgspec

from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.config.resources.secret_store import RetrySettings
from syncret.providers.beyondtrustworkloadcredentials.spec import BeyondTrustWorkloadCredentialsSpec
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.values import SecretBytes

GENERATE: Final = Endpoint(
    "POST",
    "/dynamic/{name}/generate",
    "generating credentials of {name}",
    "give the token's account the right to generate credentials of the dynamic secret",
)


class WorkloadCredentialsDynamicSecretSpec(Model):
    """A lease of one dynamic secret, which the last part of the provider's `folderPath` names.

    Example: {provider: {folderPath: shop/aws, auth: {apikey: {token: {name: beyondtrust-login, key: token}}},
    server: {apiUrl: 'https://api.beyondtrust.io/site', siteId: 1f0e1d3c-8a6b-4c5d-9e7f-2a3b4c5d6e7f}}}
    """

    provider: BeyondTrustWorkloadCredentialsSpec
    """Where the dynamic secret is, and who leases it; the last part of `folderPath` is its name."""
    retry_settings: RetrySettings | None = None
    """Accepted and not looked at: a lease whose answer was lost is not asked for again at once."""
    controller: str = ""
    """Class of daemons that serve the generator; others, by their setting `controllerClass`, ignore it.
    Example: edge"""


class _Credentials(msgspec.Struct, rename="camel"):
    access_key_id: str
    secret_access_key: str
    lease_id: str
    expiration: str
    session_token: str = ""


class _Answer(msgspec.Struct):
    secret: _Credentials


async def generate(spec: WorkloadCredentialsDynamicSecretSpec, context: OpenContext) -> Generated:
    """New credentials, which end by themselves."""
    from syncret.providers.beyondtrustworkloadcredentials.connection import opened_api  # imports TLS

    folder, _, name = (spec.provider.folder_path or "").rpartition("/")
    if not name:
        raise Malformed(
            f"invalid path: missing secret name in {spec.provider.folder_path!r}",
            hint="end provider.folderPath with the name of the dynamic secret",
        )
    async with opened_api(spec.provider, context) as api:
        answer = await api.call(GENERATE, params={"folder": folder} if folder else {}, name=name)
    issued = answer.decode(_Answer).secret
    values = {
        "accessKeyId": issued.access_key_id,
        "secretAccessKey": issued.secret_access_key,
        "leaseId": issued.lease_id,
        "expiration": issued.expiration,
        **({"sessionToken": issued.session_token} if issued.session_token else {}),
    }
    return Generated({key: SecretBytes(value.encode()) for key, value in values.items()})


DYNAMIC_SECRET: Final = Generator(
    SpecType("BeyondtrustWorkloadCredentialsDynamicSecret", WorkloadCredentialsDynamicSecretSpec),
    generate=generate,
)
