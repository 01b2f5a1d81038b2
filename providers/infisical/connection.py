"""Opens a store: a machine identity, and the API at `hostAPI`."""

import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.infisical.auth import identity_of
from syncret.providers.infisical.client import InfisicalClient
from syncret.providers.infisical.receivers import base
from syncret.providers.infisical.spec import InfisicalSpec
from syncret.providers.kit.http import Answer, Http, Tls, Unauthenticated
from syncret.providers.kit.references import ca_bundle
from syncret.providers.kit.rest.api import Refusals, by_code, denied, means, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import Identity

_NO_SECRET: Final = re.compile(r"Secret (?:with name .*)?not found", re.DOTALL)


class _Failure(msgspec.Struct):
    message: str = ""
    error: str = ""


def _error_of(answer: Answer) -> str:
    failure = answer.decode_if(_Failure)
    return "" if failure is None else failure.error


_ENDED: Final = means(
    Unauthenticated,
    "the access token has ended, or is not this server's",
    hint="a token in tokenAuthCredentials is not renewed: store another",
)
_REFUSALS: Final = Refusals(
    vendor="Infisical's secrets",
    check="check hostAPI, projectSlug, environmentSlug and the folder",
    # a secret is missing, and not its folder, environment or project
    is_absent=says(_Failure, lambda failure: _NO_SECRET.match(failure.message) is not None),
    errors={403: by_code(_error_of, {"TokenError": _ENDED}, denied)},
)


@asynccontextmanager
async def open_store(spec: InfisicalSpec, context: OpenContext) -> AsyncGenerator[InfisicalClient, None]:
    """A client that is logged in. Raises SyncError."""

    async def identify(http: Http) -> Identity:
        return await identity_of(spec, http, context)

    tls = Tls(ca=await ca_bundle(spec.ca_bundle, spec.ca_provider, context))
    async with connected(base(spec), context, identify, _REFUSALS, tls=tls) as api:
        yield InfisicalClient(spec.secrets_scope, api, context.compute)
