"""The spec of a GitHub store."""

from typing import Literal

import msgspec

from syncret.config.fields import Int64, Model, SecretKeySelector


class GithubAuth(Model):
    """The private key of a GitHub App, from a Secret.

    Example: {privateKey: {name: github-app, key: private-key.pem}}
    """

    private_key: SecretKeySelector
    """The App's RSA key in PEM, exactly as GitHub supplied it.
    Example: {name: github-app, key: private-key.pem}"""


class GithubSpec(Model):
    """Writes Actions secrets of an organization, of a repository or of an environment in one.

    Example: {appID: 123456, installationID: 7891011, organization: acme, auth: {privateKey: {name:
    github-app, key: private-key.pem}}}
    """

    auth: GithubAuth
    """The key of the App."""
    app_id: Int64 = msgspec.field(name="appID")
    """Number of the App. Example: 123456"""
    installation_id: Int64 = msgspec.field(name="installationID")
    """Number of the App's installation in the organization. Example: 7891011"""
    organization: str
    """Organization, or user, that the secrets belong to. Example: acme"""
    repository: str | None = None
    """Repository whose secrets are written; absent: those of the organization. Example: web"""
    environment: str | None = None
    """Environment of that repository whose secrets are written. Example: production"""
    org_secret_visibility: Literal["all", "private"] | None = None
    """Which repositories see a secret of the organization; absent: new ones all, existing ones as before.
    Example: private"""
    url: str = "https://github.com/"
    """Address of the server. Example: https://github.example.com/"""
    upload_url: str | None = msgspec.field(default=None, name="uploadURL")
    """Address for uploads, only for enterprise servers where it differs.
    Example: https://uploads.github.example.com/"""


def is_cloud(spec: GithubSpec) -> bool:
    """Whether it is GitHub's own cloud, and no enterprise server."""
    return spec.url in {"", "https://github.com", "https://github.com/"}


def published_rate(spec: GithubSpec) -> float | None:
    """Calls per second: an installation has 5,000 an hour at least, at GitHub's own cloud.

    https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
    """
    return 5000 / 3600 if is_cloud(spec) else None
