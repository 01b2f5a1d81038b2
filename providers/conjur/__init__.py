"""CyberArk Conjur: the variables of one account.

spec        the spec of a store, its rules     client   the endpoints, the client of a store
connection  opens a store                      auth     API keys, JWTs and certificates; Conjur's tokens
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.conjur.spec import ConjurSpec, check
from syncret.providers.contract import OnFirstUse, Provider

PROVIDER: Final = Provider(
    SpecType("conjur", ConjurSpec, check=check, gjson_properties=True),
    open=OnFirstUse("syncret.providers.conjur.connection"),
    batch_size=50,
)
