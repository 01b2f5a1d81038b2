"""1Password, directly, with a service account."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.onepassword_sdk.spec import OnePasswordSDKSpec, check

PROVIDER: Final = Provider(SpecType("onepasswordSDK", OnePasswordSDKSpec, check=check))
