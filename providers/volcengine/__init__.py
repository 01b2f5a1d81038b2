"""Secrets of Volcengine's key management service."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.volcengine.spec import VolcengineSpec, check

PROVIDER: Final = Provider(SpecType("volcengine", VolcengineSpec, check=check))
