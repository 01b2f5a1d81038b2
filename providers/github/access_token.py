"""The generator GithubAccessToken: a token of a GitHub App's installation."""

from typing import Any, Final

import msgspec

from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.providers.contract import Generated, Generator, OpenContext
from syncret.providers.kit.spec_parts import FromSecret

_API: Final = "https://api.github.com"


class GithubAppAuth(Model):
    """How the generator authenticates: as the App."""

    private_key: FromSecret
    """The App's RSA key in PEM, exactly as GitHub supplied it, which signs the request.
    Example: {secretRef: {name: github-app, key: private-key.pem}}"""


class GithubAccessTokenSpec(Model):
    """A token for an hour, with all permissions of the App or fewer.

    Example: {appID: '123456', installID: '7891011', auth: {privateKey: {secretRef: {name: github-app, key:
    private-key.pem}}}}
    """

    # Both IDs are numbers, which the resource model has as strings.
    app_id: str = msgspec.field(name="appID")
    """Number of the App, as text. Example: '123456'"""
    install_id: str = msgspec.field(name="installID")
    """Number of the App's installation, as text. Example: '7891011'"""
    auth: GithubAppAuth
    """The key of the App."""
    url: str = ""
    """The API of an enterprise server, which ends with `/api/v3`; absent: https://api.github.com.
    Example: https://github.example/api/v3"""
    repositories: tuple[str, ...] = ()
    """Names without owner that the token is good for; none: all repositories of the installation.
    Example: [web, api]"""
    permissions: dict[str, str] = {}
    """Permissions that the token has; none: all of the App. More than the App has is refused.
    Example: {contents: read}"""


async def generate(spec: GithubAccessTokenSpec, context: OpenContext) -> Generated:
    """A token of the installation. It expires within the hour; there is nothing to clean up."""
    from syncret.providers.github.app import app_key, installation_token  # imports asyncio and TLS
    from syncret.providers.kit.http import Http

    key = await app_key(context, spec.auth.private_key.secret_ref)
    wanted: dict[str, Any] = {}
    if spec.permissions:
        wanted["permissions"] = spec.permissions
    if spec.repositories:
        wanted["repositories"] = spec.repositories
    async with Http(spec.url or _API, now=context.now, network=context.network) as http:
        issued = await installation_token(
            http, context, app=spec.app_id, installation=spec.install_id, key=key, wanted=wanted
        )
    return Generated({"token": issued.value})


ACCESS_TOKEN: Final = Generator(SpecType("GithubAccessToken", GithubAccessTokenSpec), generate=generate)
