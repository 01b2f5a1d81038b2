"""Logs in to Keystone, OpenStack's identity service, whose answer has the addresses of services, too.

https://docs.openstack.org/api-ref/identity/v3/#password-authentication-with-scoped-authorization
"""

from typing import Any, Final, NamedTuple

import msgspec

from syncret.providers.barbican.spec import BarbicanSpec
from syncret.providers.errors import Malformed
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.http import Answer, Http, json_body
from syncret.providers.kit.rest.logins import log_in_with, moment
from syncret.providers.values import SecretBytes

_VERSION: Final = "/v3"
_SERVICE: Final = "key-manager"


class _Endpoint(msgspec.Struct):
    url: str
    interface: str = ""
    region: str | None = None
    region_id: str | None = None


class _Service(msgspec.Struct):
    type: str
    endpoints: list[_Endpoint] = []


class _Token(msgspec.Struct):
    expires_at: str
    catalog: list[_Service] = []


class _Tokens(msgspec.Struct):
    token: _Token


class Login(NamedTuple):
    """A token, and where Barbican is for it."""

    token: ExpiringValue[SecretBytes]
    barbican: str


def address(spec: BarbicanSpec) -> str:
    """Keystone's address with its version."""
    url = (spec.auth_url or "").rstrip("/")
    return url if url.endswith(_VERSION) else f"{url}{_VERSION}"


async def log_in(spec: BarbicanSpec, user: str, password: str, http: Http) -> Login:
    """A token for the project. Raises SyncError."""
    domain = {"domain": {"name": spec.domain_name}} if spec.domain_name else {}
    credentials: dict[str, Any] = {"name": user, "password": password, **domain}
    identity = {"methods": ["password"], "password": {"user": credentials}}
    project: dict[str, Any] = {"name": spec.tenant_name, **domain}
    scope = {"scope": {"project": project}} if spec.tenant_name else {}
    answer = await log_in_with(
        http,
        "/auth/tokens",
        json_body({"auth": {"identity": identity, **scope}}),
        doing="logging in to Keystone",
        hint="check username, password, tenantName and domainName",
    )
    token = answer.decode(_Tokens).token
    expires, text = moment(token.expires_at), answer.headers.get("x-subject-token")
    if expires is None or not text:
        raise Malformed(f"{answer.doing}: the answer has no token", hint="does authURL lead to Keystone?")
    return Login(ExpiringValue(SecretBytes(text.encode()), expires), _barbican(token, spec.region, answer))


def _barbican(token: _Token, region: str | None, answer: Answer) -> str:
    """The public address of the key manager, in the region if the store names one."""
    for service in token.catalog:
        for endpoint in service.endpoints if service.type == _SERVICE else ():
            if endpoint.interface == "public" and region in {None, "", endpoint.region, endpoint.region_id}:
                url = endpoint.url.rstrip("/")
                return url if url.endswith("/v1") else f"{url}/v1"
    where = f" in region {region}" if region else ""
    raise Malformed(
        f"{answer.doing}: the catalog has no key manager{where}",
        hint="check tenantName and region: is Barbican installed there?",
    )
