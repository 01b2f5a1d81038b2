"""The secret manager of Scaleway."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.scaleway.spec import ScalewaySpec, check

PROVIDER: Final = Provider(SpecType("scaleway", ScalewaySpec, check=check))
