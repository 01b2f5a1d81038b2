"""A request that waits for the headers that sign it."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from syncret.providers.kit.rest.identities import Headers


class Request(NamedTuple):
    """It is not sent."""

    method: str
    path: str
    content: bytes = b""
    headers: Mapping[str, str] = {}

    async def __call__(self, headers: Headers, /) -> Any:  # noqa: ANN401  # nothing looks at the answer
        raise AssertionError(f"only signed, not sent: {headers}")
