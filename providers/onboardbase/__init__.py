"""Onboardbase: projects with environments, values encrypted on the client."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.onboardbase.spec import OnboardbaseSpec, check

PROVIDER: Final = Provider(SpecType("onboardbase", OnboardbaseSpec, check=check))
