"""The spec of a Password Depot store."""

from syncret.config.fields import Model, SecretKeySelector


class PasswordDepotSecretRef(Model):
    """A Secret with the keys `username` and `password`."""

    credentials: SecretKeySelector | None = None
    """The Secret; its keys are `username` and `password`, whatever `key` says.
    Example: {name: depot-login}"""


class PasswordDepotAuth(Model):
    """How the store authenticates.

    Example: {secretRef: {credentials: {name: depot-login}}}
    """

    secret_ref: PasswordDepotSecretRef
    """A user of the server.

    Example: {credentials: {name: depot-login}}
    """


class PasswordDepotSpec(Model):
    """Reads entries of one database of a Password Depot server."""

    auth: PasswordDepotAuth
    """How the store authenticates to the server."""
    host: str
    """The server's host name without a scheme; its port is 8714 unless another is written behind it.
    Example: depot.example.com"""
    database: str
    """The name of the database, or a part of it that no other name has. Example: shop"""
