"""The HTTP application of the webhook: the reviews of an API server.

A body of any size and form is answered. A large one is checked in a thread. If that takes too long, there is
no verdict, so that the failure policy decides.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import Final

import msgspec
import structlog
from aiohttp import web

from syncret.config.catalog import Catalog
from syncret.config.meta import GroupKind
from syncret.daemon.admission.metrics import WebhookMetrics
from syncret.daemon.admission.review import NotAReview, reviewed
from syncret.daemon.core.webhook_names import PATHS
from syncret.daemon.short_turns import short_turns

LARGEST: Final = 3 * 2**20
"""Bytes of one review: an object, and the version before."""

QUICK: Final = 32 * 1024
"""A body of so many bytes is checked in a millisecond or two."""

AT_ONCE: Final = 4
"""Larger bodies that are in memory at the same time; others wait."""

READ_WITHIN: Final = 5.0
ANSWER_WITHIN: Final = 0.9
_TOO_LATE: Final = 503

log = structlog.get_logger()


class Reviewer:
    """Answers reviews."""

    def __init__(self, catalog: Catalog, metrics: WebhookMetrics) -> None:
        self._catalog = catalog
        self._metrics = metrics
        self._large = asyncio.Semaphore(AT_ONCE)
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="admission")

    def close(self) -> None:
        """Begin no further check."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def handle(self, request: web.Request) -> web.Response:
        """Answer one review, and count it."""
        path = request.path
        begun = perf_counter()
        status = 500
        with self._metrics.under_way(path):
            try:
                response = await self._answer(request, PATHS[path])
                status = response.status
                return response
            except web.HTTPException as refused:
                status = refused.status
                raise
            finally:
                self._metrics.answered(path, status, perf_counter() - begun)

    async def _answer(self, request: web.Request, kind: GroupKind) -> web.Response:
        try:
            if _is_small(request):
                async with asyncio.timeout(READ_WITHIN):
                    body = await request.read()
                answer = msgspec.json.encode(reviewed(body, kind, self._catalog))
            else:
                answer = await self._answer_large(request, kind)
        except NotAReview as error:
            return web.Response(status=400, text=f"{error}\n")
        except TimeoutError:
            return web.Response(status=_TOO_LATE, text="the object was not checked in time\n")
        except (web.HTTPException, ConnectionError):
            raise
        except Exception:  # a fault of ours ends no connection; the log names code, and no value
            log.exception("a review failed")
            return web.Response(status=500, text="the object could not be checked\n")
        return web.Response(body=answer, content_type="application/json")

    async def _answer_large(self, request: web.Request, kind: GroupKind) -> bytes:
        async with asyncio.timeout(READ_WITHIN):
            await self._large.acquire()
        try:
            async with asyncio.timeout(READ_WITHIN):
                body = await request.read()
            work = partial(_checked, body, kind, self._catalog)
            async with asyncio.timeout(ANSWER_WITHIN):
                return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._large.release()


def _is_small(request: web.Request) -> bool:
    """Whether the body is surely small: its length is given, and is not that of a compressed one."""
    length = request.content_length
    return length is not None and length <= QUICK and "Content-Encoding" not in request.headers


def _checked(body: bytes, kind: GroupKind, catalog: Catalog) -> bytes:
    with short_turns():
        return msgspec.json.encode(reviewed(body, kind, catalog))


def reviews(reviewer: Reviewer) -> web.Application:
    """What the API server calls."""
    app = web.Application(client_max_size=LARGEST)
    for path in PATHS:
        app.router.add_post(path, reviewer.handle)
    return app
