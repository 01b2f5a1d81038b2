"""Akeyless Vault, in the cloud or through a gateway."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.akeyless.spec import AkeylessSpec, check
from syncret.providers.contract import Provider

PROVIDER: Final = Provider(SpecType("akeyless", AkeylessSpec, check=check))
