"""Opens a store: where its services are, and a login with the access key."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Final

import msgspec

from syncret.providers.cloudrusm.client import CloudRuClient
from syncret.providers.cloudrusm.spec import CloudRuSpec
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.grpc.api import GrpcApi
from syncret.providers.kit.grpc.channel import Channel
from syncret.providers.kit.grpc.messages import encoded
from syncret.providers.kit.grpc.methods import Method
from syncret.providers.kit.http import Http
from syncret.providers.kit.references import read_text
from syncret.providers.kit.rest.identities import FixedHeaders, LoggedIn
from syncret.providers.values import SecretBytes

_LOG_IN: Final = Method(
    "sbercloud.cp.iam.api.v1.auth.AuthService", "GetToken", "logging in with the access key"
)


class _Endpoint(msgspec.Struct):
    id: str
    address: str


class _Endpoints(msgspec.Struct):
    endpoints: list[_Endpoint]


@asynccontextmanager
async def open_store(spec: CloudRuSpec, context: OpenContext) -> AsyncGenerator[CloudRuClient, None]:
    """A client that is logged in. Raises SyncError."""
    ref, path = spec.auth.secret_ref, "auth.secretRef"
    if ref is None or spec.project_id is None:
        raise Malformed("the store names no credentials or no project", hint=f"write {path} and projectID")
    id_ = await read_text(context, ref.access_key_id_secret_ref, f"{path}.accessKeyIDSecretRef")
    secret = await read_text(context, ref.access_key_secret_secret_ref, f"{path}.accessKeySecretSecretRef")
    iam, manager = await _addresses(context)

    async def log_in() -> ExpiringValue[SecretBytes]:
        return await _log_in(iam, id_.strip(), secret.strip(), context)

    identity = LoggedIn(log_in, context)
    await identity.check()
    async with Channel(manager, network=context.network, now=context.now) as channel:
        yield CloudRuClient(GrpcApi(channel, identity), context.compute, spec.project_id)


async def _addresses(context: OpenContext) -> tuple[str, str]:
    """The addresses of IAM and of the secret manager: from the environment, or else from Cloud.ru."""
    iam, manager = ADDRESSES.get("CLOUDRU_IAM_ADDRESS"), ADDRESSES.get("CLOUDRU_CSM_ADDRESS")
    if iam and manager:
        return iam, manager
    url = ADDRESSES.get("CLOUDRU_DISCOVERY_URL") or "https://api.cloud.ru/endpoints"
    async with Http(now=context.now, network=context.network) as http:
        answer = await http.request("GET", url, doing="asking for the addresses of services")
    found = {each.id: each.address for each in answer.decode(_Endpoints).endpoints}
    for service in ("iam", "secret-manager"):
        if service not in found:
            raise Malformed(
                f"{answer.doing}: there is no service {service}",
                hint="does CLOUDRU_DISCOVERY_URL lead there?",
            )
    return found["iam"], found["secret-manager"]


async def _log_in(iam: str, id_: str, secret: str, context: OpenContext) -> ExpiringValue[SecretBytes]:
    issued = context.now()
    refused = None
    async with Channel(iam, network=context.network, now=context.now) as channel:
        try:
            answer = await GrpcApi(channel, FixedHeaders({})).call(_LOG_IN, encoded((1, id_), (2, secret)))
            return ExpiringValue(SecretBytes(answer.text(1).encode()), issued + answer.integer(4))
        except Denied as error:
            refused = error
    raise Denied(refused.message, hint="check auth.secretRef: is the access key still active?")
