"""The spec of a Yandex Certificate Manager store."""

from syncret.providers.kit.yandex.spec import YandexSpec, check

__all__ = ["YandexCertificateManagerSpec", "check"]


class YandexCertificateManagerSpec(YandexSpec):
    """Reads certificates of Certificate Manager with their chains and keys, by ID or by name.

    Example: {fetching: {byName: {folderID: b1g0example}}, auth: {authorizedKeySecretRef: {name: yandex-login,
    key: key.json}}}
    """
