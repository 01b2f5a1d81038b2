"""IBM Cloud Secrets Manager."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.ibm.spec import IbmSpec, check

PROVIDER: Final = Provider(SpecType("ibm", IbmSpec, check=check))
