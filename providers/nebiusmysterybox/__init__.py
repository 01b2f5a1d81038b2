"""MysteryBox, the secret manager of Nebius AI Cloud."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.nebiusmysterybox.spec import NebiusSpec, check

PROVIDER: Final = Provider(SpecType("nebiusmysterybox", NebiusSpec, check=check))
