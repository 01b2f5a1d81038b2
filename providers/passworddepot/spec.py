"""The spec of a Password Depot store."""

from syncret.config.fields import Model, SecretKeySelector


class PasswordDepotSecretRef(Model):
    """A Secret with the keys `username` and `password`."""

    credentials: SecretKeySelector | None = None


class PasswordDepotAuth(Model):
    """How the store authenticates."""

    secret_ref: PasswordDepotSecretRef


class PasswordDepotSpec(Model):
    """A store in one database of a Password Depot server."""

    auth: PasswordDepotAuth
    host: str
    """The server's host name, without scheme and port."""
    database: str
