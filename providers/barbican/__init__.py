"""OpenStack Barbican, the key manager."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.barbican.spec import BarbicanSpec, check
from syncret.providers.contract import Provider

PROVIDER: Final = Provider(SpecType("barbican", BarbicanSpec, check=check))
