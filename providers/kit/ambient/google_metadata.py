"""Google's metadata server: facts about the machine, and its service account."""

from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Final

from syncret.providers.contract import OwnIdentity
from syncret.providers.errors import Malformed
from syncret.providers.kit.ambient import metadata
from syncret.providers.kit.auth.logins import ExpiringValue
from syncret.providers.kit.google.endpoints import CLOUD_PLATFORM, Endpoints
from syncret.providers.kit.google.tokens import Access, Login, token_of
from syncret.providers.kit.http import Answer

_FLAVOR: Final = {"Metadata-Flavor": "Google"}
_ACCOUNT: Final = "instance/service-accounts/default"


async def metadata_value(endpoints: Endpoints, path: str, *, hint: str, now: Callable[[], float]) -> str:
    """One fact that is no identity, such as `project/project-id`. Raises SyncError with this hint."""
    doing = f"asking the metadata server for {path}"
    answer = await _request(endpoints, path, {}, doing=doing, hint=hint, now=now)
    return answer.body.decode("utf-8", "replace").strip()


def metadata_server_login(own: OwnIdentity, endpoints: Endpoints, now: Callable[[], float]) -> Login:
    """A Login as the machine's service account, or in GKE as that of the pod."""
    return partial(_login, own, endpoints, now)


async def identity_token(
    _own: OwnIdentity, endpoints: Endpoints, audience: str, *, hint: str, now: Callable[[], float]
) -> str:
    """An identity token of the machine's account for this audience."""
    params = {"audience": audience, "format": "full"}
    doing = "asking the metadata server who this machine is"
    answer = await _request(endpoints, f"{_ACCOUNT}/identity", params, doing=doing, hint=hint, now=now)
    return answer.body.decode("ascii", "replace").strip()


async def _login(_own: OwnIdentity, endpoints: Endpoints, now: Callable[[], float]) -> ExpiringValue[Access]:
    answer = await _request(
        endpoints,
        f"{_ACCOUNT}/token",
        {"scopes": CLOUD_PLATFORM},
        doing="logging in as the machine's service account",
        hint="give the machine (or in GKE the pod) a service account, or write auth into the store",
        now=now,
    )
    return token_of(answer, now())


async def _request(
    endpoints: Endpoints,
    path: str,
    params: Mapping[str, str],
    *,
    doing: str,
    hint: str,
    now: Callable[[], float],
) -> Answer:
    answer = await metadata.ask(
        "GET",
        f"{endpoints.metadata}/computeMetadata/v1/{path}",
        doing=doing,
        hint=hint,
        now=now,
        params=params,
        headers=_FLAVOR,
        accept=(HTTPStatus.NOT_FOUND,),
    )
    if answer.status == HTTPStatus.NOT_FOUND or answer.headers.get("metadata-flavor") != "Google":
        raise Malformed(f"{doing}: it has no answer", hint=hint)
    return answer
