"""Secrets of Yandex Lockbox."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.yandexlockbox.spec import YandexLockboxSpec, check

PROVIDER: Final = Provider(SpecType("yandexlockbox", YandexLockboxSpec, check=check))
