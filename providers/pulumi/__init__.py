"""Environments of Pulumi ESC."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.pulumi.spec import PulumiSpec, check

PROVIDER: Final = Provider(SpecType("pulumi", PulumiSpec, check=check))
