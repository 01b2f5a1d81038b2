"""Caches the last answers of an API with ETags: an unchanged one is not transferred again."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from http import HTTPStatus
from typing import Final, TypeVar

from syncret.providers.kit.http import Answer
from syncret.providers.kit.rest.identities import Headers
from syncret.providers.kit.sized_cache import SizedCache

A = TypeVar("A", Answer, Answer | None)

_MOST: Final = 64
_MOST_BYTES: Final = 2**20
"""What one client keeps; a larger answer is read anew each time."""


class Unchanged:
    """The last answers, by request."""

    def __init__(self) -> None:
        self._kept = SizedCache[str, Answer](most=_MOST, most_bytes=_MOST_BYTES)

    async def get(self, asked: str, ask: Callable[[Headers], Awaitable[A]]) -> A | Answer:
        """The answer: the last one, with the new headers, if the server says that it is unchanged.

        `ask` sends the request with these headers, and accepts 304; its answer may be None.
        """
        kept = self._kept.get(asked)
        answer = await ask({} if kept is None else {"If-None-Match": kept.headers["etag"]})
        if answer is None:
            return answer
        if answer.status == HTTPStatus.NOT_MODIFIED and kept is not None:
            return replace(kept, headers={**kept.headers, **answer.headers})
        if answer.headers.get("etag"):
            self._kept.add(asked, answer, len(answer.body))
        return answer
