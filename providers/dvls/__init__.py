"""Devolutions Server (DVLS)."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.dvls.spec import DvlsSpec, check

PROVIDER: Final = Provider(SpecType("dvls", DvlsSpec, check=check))
