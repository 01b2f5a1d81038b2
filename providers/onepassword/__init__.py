"""1Password, through a Connect server."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.onepassword.spec import OnePasswordSpec, check

PROVIDER: Final = Provider(SpecType("onepassword", OnePasswordSpec, check=check))
