"""Opens a store: a token in a header of GitLab's own."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.gitlab.client import GitlabClient
from syncret.providers.gitlab.spec import HOME, GitlabSpec
from syncret.providers.kit.http import Http, Tls
from syncret.providers.kit.references import ca_bundle, read_text
from syncret.providers.kit.rest.api import Refusals, means, says
from syncret.providers.kit.rest.connection import connected
from syncret.providers.kit.rest.identities import FixedHeaders, Identity


class _Failure(msgspec.Struct):
    message: str = ""


_AMBIGUOUS: Final = means(
    Malformed,
    "several variables have this key, in different environments",
    hint="write environment into the store",
)
_REFUSALS: Final = Refusals(
    vendor="GitLab's variables",
    check="check url, projectID and groupIDs: to those who may not see it, a project does not exist",
    # a variable is missing, and not the project or the group
    is_absent=says(_Failure, lambda failure: failure.message.endswith("Variable Not Found")),
    errors={409: _AMBIGUOUS},
)


@asynccontextmanager
async def open_store(spec: GitlabSpec, context: OpenContext) -> AsyncGenerator[GitlabClient, None]:
    """A client. Raises SyncError."""

    async def identify(_http: Http) -> Identity:
        token = await read_text(context, spec.auth.secret_ref.access_token, "auth.SecretRef.accessToken")
        return FixedHeaders({"PRIVATE-TOKEN": token.strip()})

    tls = Tls(ca=await ca_bundle(spec.ca_bundle, spec.ca_provider, context))
    url = (spec.url or HOME).rstrip("/").removesuffix("/api/v4")  # as the vendor's client takes it
    async with connected(url, context, identify, _REFUSALS, tls=tls) as api:
        yield GitlabClient(spec, api, context.compute, context.now)
