"""Opens a store: the secret half of an API key in a header."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.kit.http import Http
from syncret.providers.kit.references import read_given
from syncret.providers.kit.rest.api import Refusals, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import FixedHeaders, Identity
from syncret.providers.scaleway.client import ScalewayClient
from syncret.providers.scaleway.spec import ScalewaySpec

HOME: Final = "https://api.scaleway.com"


class _Failure(msgspec.Struct):
    type: str = ""


_REFUSALS: Final = Refusals(
    vendor="Scaleway",
    check="check apiUrl and region: is Secret Manager offered there?",
    is_absent=says(_Failure, lambda failure: failure.type == "not_found"),
)


@asynccontextmanager
async def open_store(spec: ScalewaySpec, context: OpenContext) -> AsyncGenerator[ScalewayClient, None]:
    """A client. Raises SyncError."""

    async def identify(_http: Http) -> Identity:
        return FixedHeaders({"X-Auth-Token": await read_given(context, spec.secret_key, "secretKey")})

    async with connected(spec.api_url or HOME, context, identify, _REFUSALS) as api:
        yield ScalewayClient(spec, api, context.compute)
