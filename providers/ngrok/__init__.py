"""Vaults of ngrok; secrets can be written there, not read back."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.ngrok.spec import NgrokSpec, check

PROVIDER: Final = Provider(SpecType("ngrok", NgrokSpec, check=check))
