"""HashiCorp Vault: key-value engines of both versions."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.vault.spec import VaultSpec, check

PROVIDER: Final = Provider(SpecType("vault", VaultSpec, check=check))
