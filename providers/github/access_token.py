"""The generator GithubAccessToken: a token of a GitHub App's installation."""

from typing import Final

import msgspec

from syncret.config.catalog import SpecType
from syncret.config.fields import Model, SecretKeySelector
from syncret.providers.contract import Generator


class GithubPrivateKey(Model):
    """Where the App's private key (PEM) lies."""

    secret_ref: SecretKeySelector


class GithubAppAuth(Model):
    """Who asks: the App itself."""

    private_key: GithubPrivateKey


class GithubAccessTokenSpec(Model):
    """A token of an hour, for all that the App may do or for less."""

    # Both IDs are numbers that the resource model wants as text.
    app_id: str = msgspec.field(name="appID")
    install_id: str = msgspec.field(name="installID")
    auth: GithubAppAuth
    url: str = ""
    """The API of an enterprise server; absent: https://api.github.com."""
    repositories: tuple[str, ...] = ()
    """Names without owner; none: all where the App is installed."""
    permissions: dict[str, str] = {}
    """Such as `contents: read`; none: all that the App has."""


ACCESS_TOKEN: Final = Generator(SpecType("GithubAccessToken", GithubAccessTokenSpec))
