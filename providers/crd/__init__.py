"""Any resource of a Kubernetes API server but its Secrets."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.crd.spec import CrdSpec, check

PROVIDER: Final = Provider(SpecType("crd", CrdSpec, check=check))
