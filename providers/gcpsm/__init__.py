"""Google Cloud Secret Manager."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.gcpsm.spec import GcpSmSpec, check

PROVIDER: Final = Provider(SpecType("gcpsm", GcpSmSpec, check=check))
