"""Requests to metadata servers of clouds, without proxies and without a store's connection."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from syncret.providers.errors import Unavailable
from syncret.providers.kit.http import Answer, Http

_TIMEOUT: Final = 5.0
"""Seconds; outside of the cloud often nothing answers at all."""


async def ask(
    method: str,
    url: str,
    *,
    doing: str,
    hint: str,
    now: Callable[[], float],
    params: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    accept: Sequence[int] = (),
) -> Answer:
    """The answer. Raises SyncError, with this hint if there is no such server."""
    try:
        async with asyncio.timeout(_TIMEOUT), Http(now=now, network=None) as http:
            return await http.request(
                method, url, doing=doing, params=params, headers=headers or {}, accept=accept
            )
    except TimeoutError:
        raise Unavailable(f"{doing}: nobody answers", hint=hint) from None
    except Unavailable as error:
        raise Unavailable(error.message, hint=hint) from None
