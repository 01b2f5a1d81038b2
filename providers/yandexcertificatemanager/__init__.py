"""Certificates of Yandex Certificate Manager, with their chains and private keys."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.yandexcertificatemanager.spec import YandexCertificateManagerSpec, check

PROVIDER: Final = Provider(SpecType("yandexcertificatemanager", YandexCertificateManagerSpec, check=check))
