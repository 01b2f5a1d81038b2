"""Fortanix Data Security Manager."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.fortanix.spec import FortanixSpec, check

PROVIDER: Final = Provider(SpecType("fortanix", FortanixSpec, check=check))
