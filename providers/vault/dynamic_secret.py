"""The generator VaultDynamicSecret: whatever a path of Vault answers with."""

from typing import Final, Literal

from syncret.config.catalog import SpecType
from syncret.config.fields import Defaulted, Json, Model
from syncret.config.resources.secret_store import RetrySettings
from syncret.providers.contract import Generator
from syncret.providers.vault.spec import VaultSpec


class VaultDynamicSecretSpec(Model):
    """One request to Vault; each refresh draws a new credential."""

    provider: VaultSpec
    """The server and the login, as in a store; `path` and `version` of it count for nothing here."""
    path: str
    method: str = ""
    """Absent: GET. LIST and DELETE too take no body; any other writes `parameters`."""
    get_parameters: dict[str, tuple[str, ...]] = {}
    """The query of a GET."""
    parameters: Json = None
    """The body of a write: any JSON object."""
    result_type: Literal["Data", "Auth", "Raw"] = "Data"
    """Which part of the answer is taken: `data`, `auth` (of a token just made), or all of it."""
    allow_empty_response: Defaulted[bool] = False
    retry_settings: RetrySettings | None = None
    controller: str = ""


DYNAMIC_SECRET: Final = Generator(SpecType("VaultDynamicSecret", VaultDynamicSecretSpec))
