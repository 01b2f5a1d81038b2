"""Parts that the specs of several providers have: a credential that is kept in a Secret, an access key."""

import msgspec

from syncret.config.fields import Model, SecretKeySelector


class FromSecret(Model):
    """A credential that is kept in a Secret.

    Example: {secretRef: {name: app-login, key: token}}
    """

    secret_ref: SecretKeySelector
    """The Secret, and the key in it that has the credential. Example: {name: app-login, key: token}"""


class OptionalFromSecret(Model):
    """The same, where the schema does not require the Secret to be named.

    Example: {secretRef: {name: app-login, key: token}}
    """

    secret_ref: SecretKeySelector | None = None
    """The Secret, and the key in it that has the credential. Example: {name: app-login, key: token}"""


class AccessKey(Model):
    """The two halves of an access key, from Secrets.

    Example: {accessKeyIDSecretRef: {name: app-login, key: id}, accessKeySecretSecretRef: {name: app-login,
    key: secret}}
    """

    access_key_id_secret_ref: SecretKeySelector = msgspec.field(name="accessKeyIDSecretRef")
    """ID of the access key. Example: {name: app-login, key: id}"""
    access_key_secret_secret_ref: SecretKeySelector
    """The secret of the access key. Example: {name: app-login, key: secret}"""
