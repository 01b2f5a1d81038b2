"""BeyondTrust Password Safe and Secrets Safe."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.beyondtrust.spec import BeyondTrustSpec, check
from syncret.providers.contract import Provider

PROVIDER: Final = Provider(SpecType("beyondtrust", BeyondTrustSpec, check=check))
