"""What AWS gives the machine or pod of the daemon: keys, or a token to assume a role with."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import quote

import msgspec

from syncret.providers.contract import OwnIdentity
from syncret.providers.errors import Malformed
from syncret.providers.kit.ambient import metadata
from syncret.providers.kit.auth.aws_requests import WebIdentity
from syncret.providers.kit.google.endpoints import Endpoints
from syncret.providers.kit.google.external import AwsKeys, CredentialSource
from syncret.providers.values import SecretBytes

_SESSION_SECONDS: Final = "300"
_HINT: Final = "does the machine have a role?"
_METADATA: Final = "http://169.254.169.254/latest"
_OF_TASKS: Final = "http://169.254.170.2"
"""Where ECS gives a task its credentials."""


class Keys(msgspec.Struct, rename="pascal"):
    """Temporary keys as AWS's metadata servers answer them."""

    access_key_id: str
    secret_access_key: str
    token: str = ""


def web_identity_of_pod(own: OwnIdentity) -> WebIdentity | None:
    """The role of the daemon's own ServiceAccount, and the token to assume it with (IRSA)."""
    path, role = own.environment.get("AWS_WEB_IDENTITY_TOKEN_FILE"), own.environment.get("AWS_ROLE_ARN")
    return WebIdentity(role, own.read_file(path, what="token")) if path and role else None


async def keys_of_pod(own: OwnIdentity, now: Callable[[], float]) -> Keys | None:
    """The keys that the agent of EKS or ECS gives the daemon's pod."""
    url = own.environment.get("AWS_CONTAINER_CREDENTIALS_FULL_URI")
    relative = own.environment.get("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI")
    if relative:
        url = f"{_OF_TASKS}{relative}"
    if not url:
        return None
    path = own.environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")
    token = (
        own.read_file(path, what="token").raw.decode()
        if path
        else own.environment.get("AWS_CONTAINER_AUTHORIZATION_TOKEN", "")
    )
    answer = await metadata.ask(
        "GET",
        url,
        doing="asking for the pod's credentials of AWS",
        hint="is the pod identity agent running?",
        now=now,
        headers={"Authorization": token} if token else {},
    )
    return answer.decode(Keys)


async def keys_of_machine(own: OwnIdentity, now: Callable[[], float]) -> Keys:
    """The keys of the machine's role. Raises SyncError."""
    return await _imds_of(own, now).keys(_MACHINE)


async def region_of_machine(own: OwnIdentity, now: Callable[[], float]) -> str:
    """The region that the machine is in. Raises SyncError."""
    return await _imds_of(own, now).get(_MACHINE, _MACHINE.region_url)


async def keys_for_federation(
    own: OwnIdentity, source: CredentialSource, endpoints: Endpoints, now: Callable[[], float]
) -> AwsKeys:
    """The keys of the environment, otherwise those of the machine's role; for an exchange at Google."""
    imds = _Imds(endpoints, now)
    environment = own.environment
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if not region:
        region = (await imds.get(source, source.region_url))[:-1]  # a zone is its region and a letter
    access, secret = environment.get("AWS_ACCESS_KEY_ID"), environment.get("AWS_SECRET_ACCESS_KEY")
    if access and secret:
        session = environment.get("AWS_SESSION_TOKEN", "")
        return AwsKeys(access, SecretBytes(secret.encode()), SecretBytes(session.encode()), region)
    keys = await imds.keys(source)
    secret_key, token = SecretBytes(keys.secret_access_key.encode()), SecretBytes(keys.token.encode())
    return AwsKeys(keys.access_key_id, secret_key, token, region)


_MACHINE: Final = CredentialSource(
    url=f"{_METADATA}/meta-data/iam/security-credentials/",
    region_url=f"{_METADATA}/meta-data/placement/region",
    imdsv2_session_token_url=f"{_METADATA}/api/token",
)
"""Where a machine finds its region, and the keys of its role."""


def _imds_of(own: OwnIdentity, now: Callable[[], float]) -> "_Imds":
    if own.environment.get("AWS_EC2_METADATA_DISABLED", "").lower() == "true":
        raise Malformed(
            "the daemon has no identity at AWS: its environment names none, and its machine is not asked",
            hint="give its pod or machine a role, and for the latter unset AWS_EC2_METADATA_DISABLED",
        )
    return _Imds(Endpoints.of(own.environment), now)


class _Imds:
    """AWS's metadata server, with a session token if the source names its URL (IMDSv2)."""

    def __init__(self, endpoints: Endpoints, now: Callable[[], float]) -> None:
        self._endpoints = endpoints
        self._now = now
        self._session = ""

    async def get(self, source: CredentialSource, url: str) -> str:
        if not url:
            raise Malformed(
                "credential_source names no address for AWS's region or credentials",
                hint="set url and region_url",
            )
        if source.imdsv2_session_token_url and not self._session:
            self._session = await self._ask(
                "PUT",
                source.imdsv2_session_token_url,
                {"X-aws-ec2-metadata-token-ttl-seconds": _SESSION_SECONDS},
            )
        return await self._ask(
            "GET", url, {"X-aws-ec2-metadata-token": self._session} if self._session else {}
        )

    async def keys(self, source: CredentialSource) -> Keys:
        """The keys of the first role below the source's URL."""
        role = await self.get(source, source.url)
        document = await self.get(source, f"{source.url.rstrip('/')}/{quote(role, safe='')}")
        with suppress(msgspec.MsgspecError):
            return msgspec.json.decode(document, type=Keys)
        raise Malformed("AWS's metadata server gives no credentials", hint=_HINT)

    async def _ask(self, method: str, url: str, headers: Mapping[str, str]) -> str:
        answer = await metadata.ask(
            method,
            self._endpoints.with_overrides(url),
            doing="asking AWS's metadata server",
            hint=_HINT,
            now=self._now,
            headers=headers,
        )
        return answer.body.decode("utf-8", "replace").strip()
