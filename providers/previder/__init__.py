"""Previder Vault."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.previder.spec import PreviderSpec, check

PROVIDER: Final = Provider(SpecType("previder", PreviderSpec, check=check))
