"""Opens a store: an access token, or one for that of a ServiceAccount."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Unavailable
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Http, form_body, segments
from syncret.providers.kit.references import read_text
from syncret.providers.kit.rest.api import Refusals, means, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import FixedHeaders, Headers, Identity, LoggedIn
from syncret.providers.kit.rest.logins import account_jwt, log_in_with, oauth_token
from syncret.providers.pulumi.client import PulumiClient
from syncret.providers.pulumi.spec import PulumiOIDC, PulumiSpec
from syncret.providers.values import SecretBytes

_ESC: Final = "/api/esc"
_OAUTH: Final = "urn:ietf:params:oauth"


class _Failure(msgspec.Struct):
    message: str
    code: int


_REFUSALS: Final = Refusals(
    vendor="Pulumi",
    check="check apiUrl: it ends with /api/esc",
    is_absent=says(_Failure),
    errors={409: means(Unavailable, "another program changed the environment meanwhile")},
)


@asynccontextmanager
async def open_store(spec: PulumiSpec, context: OpenContext) -> AsyncGenerator[PulumiClient, None]:
    """A client that is logged in. Raises SyncError."""
    url = spec.api_url.rstrip("/")

    async def identify(http: Http) -> Identity:
        if spec.auth is not None and spec.auth.oidc_config is not None:
            oidc = spec.auth.oidc_config
            login = f"{url.removesuffix(_ESC)}/api/oauth/token"
            return LoggedIn(lambda: _exchange(oidc, http, login, context), context, headers=_headers)
        given = spec.access_token if spec.auth is None else spec.auth.access_token
        path = "accessToken.secretRef" if spec.auth is None else "auth.accessToken.secretRef"
        token = await read_text(context, None if given is None else given.secret_ref, path)
        return FixedHeaders(_headers(SecretBytes(token.strip().encode())))

    place = segments(spec.organization, spec.project)
    async with connected(f"{url}/environments/{place}", context, identify, _REFUSALS) as api:
        yield PulumiClient(spec, api, context.compute)


def _headers(token: SecretBytes) -> Headers:
    return {"Authorization": f"token {token.raw.decode()}"}


async def _exchange(
    oidc: PulumiOIDC, http: Http, url: str, context: OpenContext
) -> ExpiringValue[SecretBytes]:
    """The token of the organization: https://www.pulumi.com/docs/pulumi-cloud/reference/oauth-token-exchange/."""
    audience, seconds = f"urn:pulumi:org:{oidc.organization}", oidc.expiration_seconds
    fields = {
        "audience": audience,
        "grant_type": f"{_OAUTH}:grant-type:token-exchange",
        "subject_token": await account_jwt(
            context, oidc.service_account_ref, seconds=seconds, audience=audience
        ),
        "subject_token_type": f"{_OAUTH}:token-type:id_token",
        "requested_token_type": "urn:pulumi:token-type:access_token:organization",
        "expiration": str(seconds),
    }
    named = " and ".join(oidc.service_account_ref.audiences or [audience])
    hint = f"does the organization trust the cluster's issuer, the audience {named} and this subject?"
    answer = await log_in_with(
        http, url, form_body(fields), doing="logging in to Pulumi by oidcConfig", hint=hint
    )
    return oauth_token(answer, context.now)
