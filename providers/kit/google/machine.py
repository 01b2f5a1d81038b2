"""Asks the metadata server of a machine at Google: in which project it is, and for tokens of its account."""

import asyncio
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Final

from syncret.providers.errors import Malformed, Unavailable
from syncret.providers.kit.credentials import Lease
from syncret.providers.kit.google.endpoints import CLOUD_PLATFORM, Endpoints
from syncret.providers.kit.google.tokens import Access, Login, lease
from syncret.providers.kit.http import Answer, Http

_WITHIN: Final = 5.0
"""Seconds. Outside Google's cloud often nobody answers at all."""

_FLAVOR: Final = {"Metadata-Flavor": "Google"}
_ACCOUNT: Final = "instance/service-accounts/default"


def by_machine(http: Http, endpoints: Endpoints, now: Callable[[], float]) -> Login:
    """Logs in as the machine's own account, or in GKE as the one of the pod."""
    return partial(_login, http, endpoints, now)


async def known(http: Http, endpoints: Endpoints, path: str, *, hint: str) -> str:
    """One fact, such as `project/project-id`. Raises SyncError with this hint where it cannot be had."""
    answer = await _asked(
        http, endpoints, path, {}, doing=f"asking the metadata server for {path}", hint=hint
    )
    return answer.body.decode("utf-8", "replace").strip()


async def identity(http: Http, endpoints: Endpoints, audience: str, *, hint: str) -> str:
    """A token that says to this audience which account the machine has."""
    params = {"audience": audience, "format": "full"}
    doing = "asking the metadata server who this machine is"
    answer = await _asked(http, endpoints, f"{_ACCOUNT}/identity", params, doing=doing, hint=hint)
    return answer.body.decode("ascii", "replace").strip()


async def _login(http: Http, endpoints: Endpoints, now: Callable[[], float]) -> Lease[Access]:
    answer = await _asked(
        http,
        endpoints,
        f"{_ACCOUNT}/token",
        {"scopes": CLOUD_PLATFORM},
        doing="logging in as the machine's service account",
        hint="give the machine (or in GKE the pod) a service account, or write auth into the store",
    )
    return lease(answer, now())


async def _asked(
    http: Http, endpoints: Endpoints, path: str, params: dict[str, str], *, doing: str, hint: str
) -> Answer:
    url = f"{endpoints.metadata}/computeMetadata/v1/{path}"
    try:
        async with asyncio.timeout(_WITHIN):
            answer = await http.request(
                "GET", url, doing=doing, params=params, headers=_FLAVOR, accept=(HTTPStatus.NOT_FOUND,)
            )
    except TimeoutError:
        raise Unavailable(f"{doing}: nobody answers", hint=hint) from None
    except Unavailable as error:
        raise Unavailable(error.message, hint=hint) from None
    if answer.status == HTTPStatus.NOT_FOUND or answer.headers.get("metadata-flavor") != "Google":
        raise Malformed(f"{doing}: it has no answer", hint=hint)
    return answer
