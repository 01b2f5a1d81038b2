"""The secret manager of OVHcloud, part of its key management service (OKMS)."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.ovh.spec import OvhSpec, check

PROVIDER: Final = Provider(SpecType("ovh", OvhSpec, check=check))
