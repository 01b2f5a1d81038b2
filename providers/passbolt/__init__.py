"""Passbolt, with the OpenPGP key of an account."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.passbolt.spec import PassboltSpec, check

PROVIDER: Final = Provider(SpecType("passbolt", PassboltSpec, check=check))
