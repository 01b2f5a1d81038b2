"""The spec of a Yandex Lockbox store."""

from syncret.providers.kit.yandex import YandexSpec, check

__all__ = ["YandexLockboxSpec", "check"]


class YandexLockboxSpec(YandexSpec):
    """A store in Lockbox; remote keys are secrets, by ID or by name."""
