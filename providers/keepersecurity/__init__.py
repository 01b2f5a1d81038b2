"""Keeper Secrets Manager."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.keepersecurity.spec import KeeperSpec, check

PROVIDER: Final = Provider(SpecType("keepersecurity", KeeperSpec, check=check))
