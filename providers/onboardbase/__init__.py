"""Onboardbase: the secrets of one environment of one project, decrypted here.

spec        the spec of a store, its rules     client     the endpoints, the client of a store
connection  opens a store                      cryptojs   decrypts what a browser has encrypted
"""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.onboardbase.spec import OnboardbaseSpec, check

PROVIDER: Final = Provider(
    SpecType("onboardbase", OnboardbaseSpec, check=check),
    open=OnFirstUse("syncret.providers.onboardbase.connection"),
    batch_size=1000,
)
"""One answer has all secrets of the environment, however many are asked for."""
