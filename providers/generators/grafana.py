"""The generator Grafana: a token of a Grafana service account, deleted when it is replaced."""

from typing import Annotated, Final

from msgspec import Meta

from syncret.config.catalog import SpecType
from syncret.config.fields import Int64, Model, Name, SecretKey
from syncret.providers.contract import Generator


class GrafanaSecretKey(Model):
    """One key of one Secret in the generator's own namespace."""

    name: Name = ""
    key: SecretKey = ""


class GrafanaBasic(Model):
    """User name and password."""

    username: str
    password: GrafanaSecretKey


class GrafanaAuth(Model):
    """How the generator authenticates; the user must be allowed to create service accounts."""

    token: GrafanaSecretKey | None = None
    basic: GrafanaBasic | None = None


class GrafanaServiceAccount(Model):
    """The account that the tokens belong to; created if it does not exist, and never deleted."""

    name: str
    role: str
    """A basic role: Viewer, Editor, Admin or None."""
    seconds_to_live: Annotated[Int64, Meta(ge=1)] | None = None
    """The lifetime of the token; some installations require it."""


class GrafanaSpec(Model):
    """A new token of one service account."""

    url: str
    auth: GrafanaAuth
    service_account: GrafanaServiceAccount


GENERATOR: Final = Generator(SpecType("Grafana", GrafanaSpec))
