"""Doppler."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.doppler.spec import DopplerSpec, check

PROVIDER: Final = Provider(SpecType("doppler", DopplerSpec, check=check))
