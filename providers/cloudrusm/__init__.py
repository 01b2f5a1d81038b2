"""Cloud.ru Secret Manager."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.cloudrusm.spec import CloudRuSpec, check
from syncret.providers.contract import Provider

PROVIDER: Final = Provider(SpecType("cloudrusm", CloudRuSpec, check=check))
