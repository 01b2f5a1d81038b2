"""The spec of a GitHub store."""

from typing import Literal

import msgspec

from syncret.config.fields import Int64, Model, SecretKeySelector


class GithubAuth(Model):
    """The private key of a GitHub App, from a Secret."""

    private_key: SecretKeySelector


class GithubSpec(Model):
    """Writes Actions secrets of an organization, of a repository or of an environment in one."""

    auth: GithubAuth
    app_id: Int64 = msgspec.field(name="appID")
    installation_id: Int64 = msgspec.field(name="installationID")
    organization: str
    repository: str | None = None
    environment: str | None = None
    org_secret_visibility: Literal["all", "private"] | None = None
    """The visibility of an organization's secret; by default, new ones all, existing ones unchanged."""
    url: str = "https://github.com/"
    upload_url: str | None = msgspec.field(default=None, name="uploadURL")
    """Only for enterprise servers with another address for uploads."""
