"""CyberArk Conjur."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.conjur.spec import ConjurSpec, check
from syncret.providers.contract import Provider

PROVIDER: Final = Provider(SpecType("conjur", ConjurSpec, check=check))
