"""BeyondTrust Password Safe: the secrets of Secrets Safe, or the passwords of managed accounts.

spec        the spec of a store, its rules     safe      the client of Secrets Safe
connection  opens a store: a session           accounts  the client of managed accounts
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.beyondtrust.spec import BeyondTrustSpec, check
from syncret.providers.contract import OnFirstUse, Provider

PROVIDER: Final = Provider(
    SpecType("beyondtrust", BeyondTrustSpec, check=check),
    open=OnFirstUse("syncret.providers.beyondtrust.connection"),
)
