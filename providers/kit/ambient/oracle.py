"""What Oracle Cloud gives the machine, or a pod of its Kubernetes (OKE): a token for a key of this session.

https://docs.oracle.com/en-us/iaas/Content/Identity/Tasks/callingservicesfrominstances.htm,
https://docs.oracle.com/en-us/iaas/Content/ContEng/Tasks/contenggrantingworkloadaccesstoresources.htm
"""

import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import msgspec

from syncret.providers.contract import OwnIdentity
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.ambient import metadata
from syncret.providers.kit.ambient.pod import MOUNT
from syncret.providers.kit.auth.logins import bearer
from syncret.providers.kit.http import Answer, Http, Tls, json_body
from syncret.providers.values import SecretBytes

_METADATA: Final = "http://169.254.169.254/opc/v2"
_REGION: Final = re.compile(r"[a-z0-9-]{1,64}")
_DOMAIN: Final = re.compile(r"[a-z0-9.-]{1,128}")
_NO_MACHINE: Final = "write auth of a user, or run the daemon on a machine of Oracle Cloud"
_NO_CLUSTER: Final = "is it an enhanced cluster of OKE, and does the daemon run in it?"
_REFUSED: Final = (401, 403)

SESSIONS: Final = 12250
"""The port of an OKE cluster's API server that gives sessions to pods."""


class Machine(NamedTuple):
    """The certificate of a machine, its key and the authorities between, in PEM; and where it logs in."""

    certificate: bytes
    key: SecretBytes
    intermediate: bytes
    login: str


class _Region(msgspec.Struct, rename="camel"):
    region_identifier: str
    realm_domain_component: str


class _Session(msgspec.Struct):
    token: str


async def machine(own: OwnIdentity, now: Callable[[], float]) -> Machine:
    """The identity of the machine, from the metadata server. Raises SyncError."""
    base = own.environment.get("OCI_METADATA_BASE_URL") or _METADATA

    async def ask(path: str) -> Answer:
        return await metadata.ask(
            "GET",
            f"{base}/{path}",
            doing="asking for the machine's certificate",
            hint=_NO_MACHINE,
            now=now,
            headers={"Authorization": "Bearer Oracle"},
        )

    place = (await ask("instance/regionInfo")).decode(_Region)
    region, domain = place.region_identifier, place.realm_domain_component
    if not _REGION.fullmatch(region) or not _DOMAIN.fullmatch(domain):
        raise Malformed("the metadata server names no region", hint=_NO_MACHINE)
    return Machine(
        (await ask("identity/cert.pem")).body,
        SecretBytes((await ask("identity/key.pem")).body),
        (await ask("identity/intermediate.pem")).body,
        f"https://auth.{region}.{domain}",
    )


async def workload_session(
    own: OwnIdentity, account: SecretBytes | None, public_key: str, now: Callable[[], float]
) -> str:
    """A session of a ServiceAccount, the pod's own without a token of another; Oracle's token for it.

    Raises SyncError.
    """
    host = own.environment.get("KUBERNETES_SERVICE_HOST", "")
    if not host:
        raise Malformed("the daemon runs in no cluster", hint=_NO_CLUSTER)
    authority = own.environment.get("OCI_KUBERNETES_SERVICE_ACCOUNT_CERT_PATH") or str(MOUNT / "ca.crt")
    ca = own.read_file(authority, what="cluster's authority")
    token = account or own.read_file(str(MOUNT / "token"), what="ServiceAccount token")
    url = f"https://{f'[{host}]' if ':' in host else host}:{SESSIONS}"
    doing = "logging in to Oracle as a workload"
    async with Http(url, tls=Tls(ca=ca.raw), now=now, network=None) as http:
        answer = await http.request(
            "POST",
            "/resourcePrincipalSessionTokens",
            doing=doing,
            headers=_headers(token),
            body=json_body({"podKey": public_key}),
            accept=_REFUSED,
        )
    if answer.status in _REFUSED:
        raise Denied(f"{doing}: the login is refused (HTTP {answer.status})", hint=_NO_CLUSTER)
    try:
        session = msgspec.json.decode(b64decode(answer.decode(str), validate=True), type=_Session)
    except (ValueError, msgspec.MsgspecError):
        session = None
    if session is None:
        raise Malformed(f"{doing}: the answer has no token", hint=_NO_CLUSTER)
    return session.token.removeprefix("ST$")


def _headers(token: SecretBytes) -> Mapping[str, str]:
    return {**bearer(token), "Accept": "application/json"}
