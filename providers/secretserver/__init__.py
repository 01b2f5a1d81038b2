"""Delinea Secret Server, on premises or as part of the Delinea Platform."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.secretserver.spec import SecretServerSpec, check

PROVIDER: Final = Provider(SpecType("secretserver", SecretServerSpec, check=check))
