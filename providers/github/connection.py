"""Opens a store: a token of the App's installation."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.errors import SyncError
from syncret.providers.github.app import app_key, installation_token, throttled
from syncret.providers.github.client import GithubClient
from syncret.providers.github.spec import GithubSpec, is_cloud
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Answer, Http, segments
from syncret.providers.kit.rest.api import Refusals, denied, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.identities import Identity, LoggedIn
from syncret.providers.values import SecretBytes

_CLOUD: Final = "https://api.github.com"
_ENTERPRISE: Final = "/api/v3"


class _Failure(msgspec.Struct):
    message: str
    documentation_url: str


@asynccontextmanager
async def open_store(spec: GithubSpec, context: OpenContext) -> AsyncGenerator[GithubClient, None]:
    """A client that is logged in as the App's installation. Raises SyncError."""
    key = await app_key(context, spec.auth.private_key)

    async def identify(http: Http) -> Identity:
        async def log_in() -> ExpiringValue[SecretBytes]:
            app, installation = str(spec.app_id), str(spec.installation_id)
            return await installation_token(
                http, context, app=app, installation=installation, key=key, wanted={}
            )

        return LoggedIn(log_in, context)

    def forbidden(answer: Answer, endpoint: Endpoint) -> SyncError:
        return throttled(answer, context.now()) or denied(answer, endpoint)

    refusals = Refusals(
        vendor="GitHub",
        check="check url",
        is_absent=says(_Failure, lambda failure: failure.message == "Not Found"),
        errors={403: forbidden},
    )
    async with connected(_api_of(spec), context, identify, refusals) as api:
        yield GithubClient(
            api,
            context.compute,
            place=_place(spec),
            of_organization=not spec.repository,
            visibility=spec.org_secret_visibility,
        )


def _api_of(spec: GithubSpec) -> str:
    """The API's address, which an enterprise server has below its own."""
    if is_cloud(spec):
        return _CLOUD
    url = spec.url.rstrip("/")
    named = (urlsplit(url).hostname or "").startswith("api.") or url.endswith(_ENTERPRISE)
    return url if named else f"{url}{_ENTERPRISE}"


def _place(spec: GithubSpec) -> str:
    """The path of what the secrets belong to."""
    if not spec.repository:
        return f"/orgs/{segments(spec.organization)}/actions"
    repository = f"/repos/{segments(spec.organization, spec.repository)}"
    if not spec.environment:
        return f"{repository}/actions"
    return f"{repository}/environments/{segments(spec.environment)}"
