"""Senhasegura: its DevOps secret manager (DSM)."""

from typing import Final

from syncret.config.catalog import SpecType
from syncret.providers.contract import Provider
from syncret.providers.senhasegura.spec import SenhaseguraSpec, check

PROVIDER: Final = Provider(SpecType("senhasegura", SenhaseguraSpec, check=check))
