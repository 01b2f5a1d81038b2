"""Chef Infra Server: items of data bags."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.chef.spec import ChefSpec, check
from syncret.providers.contract import Provider

PROVIDER: Final = Provider(SpecType("chef", ChefSpec, check=check))
