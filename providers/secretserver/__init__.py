"""Delinea Secret Server, on premises, in the cloud, or as part of the Delinea Platform.

spec     the spec of a store, its rules     client      the endpoints, the client of a store
secrets  what a secret looks like, keys     push        writes fields of secrets
login    tokens, the vault of a platform    connection  opens a store
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.secretserver.spec import SecretServerSpec, check

PROVIDER: Final = Provider(
    SpecType("secretserver", SecretServerSpec, check=check),
    open=OnFirstUse("syncret.providers.secretserver.connection"),
)
