"""The generator VaultDynamicSecret: whatever a path of Vault answers with."""

from typing import Final, Literal

from syncret.config.catalog import SpecType
from syncret.config.fields import Defaulted, Json, Model
from syncret.config.meta import Document
from syncret.config.resources.secret_store import RetrySettings
from syncret.providers.contract import Generated, Generator, OpenContext
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


async def generate(spec: VaultDynamicSecretSpec, context: OpenContext) -> Generated:
    """Draw from Vault."""
    from syncret.providers.vault import dynamic  # hvac and aiohttp are slow to import

    return await dynamic.generate(spec, context)


async def cleanup(spec: VaultDynamicSecretSpec, state: Document, context: OpenContext) -> None:
    """Revoke what was drawn."""
    from syncret.providers.vault import dynamic  # as above

    await dynamic.cleanup(spec, state, context)


DYNAMIC_SECRET: Final = Generator(
    SpecType("VaultDynamicSecret", VaultDynamicSecretSpec), generate=generate, cleanup=cleanup
)
