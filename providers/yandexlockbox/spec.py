"""The spec of a Yandex Lockbox store."""

from syncret.providers.kit.yandex.spec import YandexSpec, check

__all__ = ["YandexLockboxSpec", "check"]


class YandexLockboxSpec(YandexSpec):
    """Reads secrets of Lockbox, by ID or by name.

    Example: {fetching: {byName: {folderID: b1g0example}}, auth: {authorizedKeySecretRef: {name: yandex-login,
    key: key.json}}}
    """
