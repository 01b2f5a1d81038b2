"""The generator VaultDynamicSecret: the values that a path of Vault returns."""

from collections.abc import Iterator
from typing import Final, Literal

from syncret.config.catalog import SpecType
from syncret.config.fields import Defaulted, Json, Model
from syncret.config.meta import Document
from syncret.config.resources.secret_store import RetrySettings
from syncret.providers.contract import Generated, Generator, OpenContext, Receiver
from syncret.providers.vault.receivers import receivers as receivers_of_store
from syncret.providers.vault.spec import VaultSpec


class VaultDynamicSecretSpec(Model):
    """One request to Vault; each refresh creates a new credential.

    Example: {path: database/creds/app, provider: {server: 'https://vault.example.com:8200'}}
    """

    provider: VaultSpec
    """The server and the login, as in a store; `path` and `version` are ignored here.
    Example: {server: 'https://vault.example.com:8200', auth: {kubernetes: {role: app}}}"""
    path: str
    """The path that is read or written, with its mount. Example: database/creds/app"""
    method: str = ""
    """Absent: GET. LIST and DELETE have no body either; any other method sends `parameters`. Example: POST"""
    get_parameters: dict[str, tuple[str, ...]] = {}
    """The query of a GET, with several values for a name if need be. Example: {ttl: [1h]}"""
    parameters: Json = None
    """The body of a write: any JSON object. Example: {common_name: app.example.com}"""
    result_type: Literal["Data", "Auth", "Raw"] = "Data"
    """The part of the answer to use: `data`, `auth` (of a new token), or all of it. Example: Auth"""
    allow_empty_response: Defaulted[bool] = False
    """Whether an answer without content is in order; otherwise it is an error."""
    retry_settings: RetrySettings | None = None
    """How calls without an answer are repeated: twice, if this is absent; without `maxRetries`: not at all.
    Example: {maxRetries: 5, retryInterval: 10s}"""
    controller: str = ""
    """Class of daemons that serve the generator; others, by their setting `controllerClass`, ignore it.
    Example: edge"""


async def generate(spec: VaultDynamicSecretSpec, context: OpenContext) -> Generated:
    """Request new values from Vault."""
    from syncret.providers.vault import dynamic  # hvac and aiohttp are slow to import

    return await dynamic.generate(spec, context)


async def cleanup(spec: VaultDynamicSecretSpec, state: Document, context: OpenContext) -> None:
    """Revoke the lease of the values."""
    from syncret.providers.vault import dynamic  # as above

    await dynamic.cleanup(spec, state, context)


def receivers(spec: VaultDynamicSecretSpec) -> Iterator[Receiver]:
    """As for a store of this server."""
    for each in receivers_of_store(spec.provider):
        yield each._replace(path=f"provider.{each.path}")


DYNAMIC_SECRET: Final = Generator(
    SpecType("VaultDynamicSecret", VaultDynamicSecretSpec),
    generate=generate,
    cleanup=cleanup,
    receivers=receivers,
)
