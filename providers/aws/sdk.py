"""Opens clients of the AWS SDK: they share a data loader and a TLS context, and do not retry.

A client with a loader and context of its own takes 9 MB and 150 ms, one that shares them 0.3 MB and 5 ms.
"""

import logging
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from functools import lru_cache, partial
from typing import Any, Final
from urllib.parse import urlsplit

import aioboto3
import aiohttp
from aiobotocore.awsrequest import AioAWSResponse
from aiobotocore.config import AioConfig
from aiobotocore.credentials import AioCredentials
from aiobotocore.httpsession import AIOHTTPSession
from aiobotocore.session import AioSession
from botocore.credentials import ReadOnlyCredentials
from botocore.exceptions import HTTPClientError
from botocore.httpsession import create_urllib3_context, get_cert_path
from botocore.loaders import Loader

from syncret.providers.aws import errors
from syncret.providers.aws.service import Absent, Expired, RefusedKeys
from syncret.providers.contract import OpenContext, OwnIdentity
from syncret.providers.errors import Denied, Unavailable
from syncret.providers.kit.auth.logins import ExpiringLogin, ExpiringValue
from syncret.providers.kit.auth.refused import refused
from syncret.providers.kit.environment import ADDRESSES
from syncret.providers.kit.http.bodies import read_body
from syncret.providers.kit.http.resolver import EgressResolver
from syncret.providers.kit.translate import Translation, call_translated
from syncret.providers.network import Network

for _name in ("aioboto3", "aiobotocore", "boto3", "botocore"):
    # They log whole requests and responses, secrets included.
    logging.getLogger(_name).propagate = False
    logging.getLogger(_name).addHandler(logging.NullHandler())

CONNECT_TIMEOUT: Final = 5.0
READ_TIMEOUT: Final = 20.0
"""Seconds; shorter than the engine's `callTimeout`, so that the error says what was slow."""

UNSIGNED: Final = AioCredentials("unsigned", "unsigned")
"""For unsigned calls, so that the SDK does not look for credentials first."""

CONNECTIONS: Final = 32

ENDPOINTS: Final[Mapping[str, str]] = {
    "acm": "AWS_ACM_ENDPOINT",
    "ecr": "AWS_ECR_ENDPOINT",
    "ecr-public": "AWS_ECR_PUBLIC_ENDPOINT",
    "resourcegroupstaggingapi": "AWS_RESOURCE_GROUPS_TAGGING_API_ENDPOINT",
    "secretsmanager": "AWS_SECRETSMANAGER_ENDPOINT",
    "ssm": "AWS_SSM_ENDPOINT",
    "sts": "AWS_STS_ENDPOINT",
}
"""ESO's variables with the endpoint of a service. The SDK's own work too."""


class RefreshableCredentials(AioCredentials):
    """Credentials for the SDK, which are refreshed when a call needs them and they are about to expire."""

    def __init__(
        self, fetch: Callable[[], Awaitable[ExpiringValue[ReadOnlyCredentials]]], context: OpenContext
    ) -> None:
        super().__init__("", "")  # the SDK uses the frozen ones only
        self._expiring = ExpiringLogin(fetch, now=context.now, log_in=context.log_in)

    async def get_frozen_credentials(self) -> ReadOnlyCredentials:
        """The keys that sign the next call. Raises SyncError if none can be fetched."""
        return await self._expiring.get()

    def forget(self) -> None:
        """Fetch others for the next call: AWS says that these have expired."""
        current = self._expiring.current
        if current is not None:
            self._expiring.drop(current)

    def __repr__(self) -> str:
        return f"<RefreshableCredentials {self._expiring!r}>"


class StaticKeys(AioCredentials):
    """Keys that a spec refers to by `auth.secretRef`."""


def _named(error: RefusedKeys, credentials: AioCredentials | None) -> Denied:
    """The error with the way to the credentials, and the field that is most likely wrong."""
    match credentials:
        case StaticKeys():
            return refused(error, "auth.secretRef", f"auth.secretRef.{error.wrong}")
        case RefreshableCredentials():
            return error  # of a role: they were issued a moment ago
        case _:
            return refused(error, "the daemon's own credentials", "its AWS_ variables, profile or role")


def expiring_keys(answer: Mapping[str, Any]) -> ExpiringValue[ReadOnlyCredentials]:
    """The credentials in a response of STS."""
    issued = answer["Credentials"]
    expires: datetime = issued["Expiration"]
    keys = ReadOnlyCredentials(issued["AccessKeyId"], issued["SecretAccessKey"], issued["SessionToken"])
    return ExpiringValue(keys, expires.timestamp())


class ServiceApi:
    """One service of one region; implements `Api`."""

    def __init__(
        self,
        client: Any,  # noqa: ANN401  # the SDK makes its classes while it runs
        table: Mapping[type[BaseException], Translation],
        credentials: AioCredentials | None,
    ) -> None:
        self._client = client
        self._table = table
        self._credentials = credentials

    async def call(self, operation: str, **parameters: object) -> dict[str, Any]:
        """The result of one call. Raises SyncError."""
        try:
            call: Awaitable[dict[str, Any]] = getattr(self._client, operation)(**parameters)
            answer = await call_translated(call, self._table, doing=operation)
        except RefusedKeys as error:
            if not isinstance(error, Expired) or not isinstance(self._credentials, RefreshableCredentials):
                raise _named(error, self._credentials) from None
            self._credentials.forget()
            raise Unavailable(
                f"{operation}: the session ended early; the next try assumes the role again"
            ) from None
        errors.check_types(self._client.meta, operation, answer)
        return answer

    async def look_up(self, operation: str, **parameters: object) -> dict[str, Any] | None:
        """The same; None if AWS says that there is no such thing."""
        try:
            return await self.call(operation, **parameters)
        except Absent:
            return None

    def __repr__(self) -> str:
        return f"<ServiceApi {type(self._client).__name__}>"


def session(credentials: AioCredentials) -> AioSession:
    """A session with these credentials."""
    aws_session = _session()
    aws_session.register_component("credential_provider", _FixedCredentials(credentials))
    return aws_session


def own_session(_own: OwnIdentity) -> AioSession:
    """A session with the credentials that the SDK's default chain finds: those of the daemon itself."""
    return _session()


def _session() -> AioSession:
    aws_session = AioSession()
    aws_session.user_agent_name = "syncret"
    aws_session.register_component("data_loader", _loader())
    return aws_session


async def check_credentials(aws_session: AioSession, region: str) -> AioCredentials:
    """The session's credentials, fetched once. Raises SyncError if there are none."""
    table, doing = _translations(region), "getting AWS credentials"
    credentials = await call_translated(aws_session.get_credentials(), table, doing=doing)
    if credentials is None:
        raise Denied(errors.NO_CREDENTIALS, hint=errors.NO_CREDENTIALS_HINT)
    await call_translated(credentials.get_frozen_credentials(), table, doing=doing)
    return credentials


@asynccontextmanager
async def open_client(
    service: str, region: str, aws_session: AioSession, network: Network
) -> AsyncGenerator[ServiceApi, None]:
    """A client of one service. Raises SyncError."""
    table = _translations(region)
    async with AsyncExitStack() as stack:
        client = aioboto3.Session(botocore_session=aws_session).client(
            service,
            region_name=region,
            endpoint_url=ADDRESSES.get(ENDPOINTS[service]) or None,
            config=_config(network),
        )
        opening = stack.enter_async_context(client)
        yield ServiceApi(
            await call_translated(opening, table, doing=f"opening a client of {service}"),
            table,
            await aws_session.get_credentials(),
        )


class _FixedCredentials:
    """Replaces the SDK's chain of credential providers."""

    def __init__(self, credentials: AioCredentials) -> None:
        self._credentials = credentials

    async def load_credentials(self) -> AioCredentials:
        return self._credentials


class _Http(AIOHTTPSession):
    """The SDK's HTTP session: reaches what the network allows, and reads bodies of a bounded size.

    The system's CA bundle is loaded only once: it takes 0.7 MB and 60 ms each time.
    """

    def __init__(self, network: Network, **options: Any) -> None:  # noqa: ANN401  # as the SDK has them
        super().__init__(**options)
        self._network = network

    async def send(self, request: Any) -> AioAWSResponse:  # noqa: ANN401  # as the SDK has it
        """The response with its body. Raises SyncError, Denied for a server that may not be reached."""
        request.stream_output = True  # the body is read here: the SDK has no limit
        url: str = request.url
        self._network.egress.check_host(urlsplit(url).hostname or "")
        try:
            response = await super().send(request)
        except HTTPClientError as error:
            if isinstance(error.__context__, Denied):  # of the resolver
                raise error.__context__ from None
            raise
        response._content = await read_body(response.raw, self._network.answers)  # noqa: SLF001  # where the SDK itself keeps it
        return response

    def _create_connector(self, proxy_url: str | None) -> aiohttp.TCPConnector:
        if proxy_url:  # chosen by the daemon's administrator; the proxy resolves the name
            return super()._create_connector(proxy_url)
        return aiohttp.TCPConnector(
            limit=self._max_pool_connections,
            ssl=_system_trust(get_cert_path(self._verify)),
            resolver=EgressResolver(self._network),
            socket_factory=self._network.connections.open_socket,
            **_kept(self._connector_args, self._network),
        )


def _kept(arguments: Mapping[str, Any], network: Network) -> dict[str, Any]:
    """How long idle connections are kept: not at all if there are never many."""
    if not network.connections.scarce:
        return dict(arguments)
    return {name: value for name, value in arguments.items() if name != "keepalive_timeout"} | {
        "force_close": True
    }


@lru_cache(maxsize=8)
def _system_trust(bundle: str) -> ssl.SSLContext:
    context = create_urllib3_context()
    context.load_verify_locations(bundle)
    return context


def _config(network: Network) -> AioConfig:
    return AioConfig(
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=READ_TIMEOUT,
        retries={"total_max_attempts": 1, "mode": "standard"},
        max_pool_connections=CONNECTIONS,
        http_session_cls=partial(_Http, network),  # type: ignore[arg-type]  # it is only called
    )


@lru_cache(maxsize=1)
def _loader() -> Loader:
    loader: Loader = AioSession().get_component("data_loader")
    return loader


@lru_cache(maxsize=1)
def _regions() -> frozenset[str]:
    partitions = _loader().load_data("partitions")["partitions"]
    return frozenset(region for partition in partitions for region in partition["regions"])


@lru_cache(maxsize=64)
def _translations(region: str) -> Mapping[type[BaseException], Translation]:
    return errors.translations(region, _regions())
