"""The spec of a Yandex Certificate Manager store."""

from syncret.providers.kit.yandex import YandexSpec, check

__all__ = ["YandexCertificateManagerSpec", "check"]


class YandexCertificateManagerSpec(YandexSpec):
    """A store in Certificate Manager; remote keys are certificates, by ID or by name."""
