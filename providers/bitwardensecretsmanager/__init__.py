"""Bitwarden Secrets Manager, through its SDK server."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.bitwardensecretsmanager.spec import BitwardenSpec, check
from syncret.providers.contract import Provider

PROVIDER: Final = Provider(SpecType("bitwardensecretsmanager", BitwardenSpec, check=check))
