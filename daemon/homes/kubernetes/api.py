"""Requests to an API server, and its error responses as errors of a home.

A write that was sent and not answered may have been carried out: the caller has to read the object before
deciding again.
"""

import asyncio
import math
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

import msgspec
from msgspec import Struct

from syncret.config.errors import Problem
from syncret.daemon.core.cluster_stats import ClusterStats
from syncret.daemon.homes.contract import (
    AlreadyExists,
    Conflict,
    Forbidden,
    HomeError,
    Invalid,
    NotFound,
    OutcomeUnknown,
    StorageUnavailable,
    TooManyRequests,
)
from syncret.providers.errors import SyncError, Throttled
from syncret.providers.kit.http import Answer, Body, Http
from syncret.providers.kit.http.answers import NotReached, retry_after
from syncret.providers.kit.http.streams import Stream
from syncret.providers.kit.kube.client import Login
from syncret.providers.kit.retry import Doubling

JSON: Final = "application/json"
MERGE_PATCH: Final = "application/merge-patch+json"
METADATA_ONLY: Final = f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
"""Requests only the metadata of an object, or of each object of a watch: no value is transferred."""

MAX_READ_TRIES: Final = 5
_PAUSES: Final = Doubling(1.0, 30.0)

LOOK_EVERY: Final = 1.0
"""Seconds between two attempts to reach a server that is down, however many runs wait for it."""

_ALL_STATUSES: Final = range(300, 600)
_UNAUTHORIZED, _FORBIDDEN, _NOT_FOUND, _CONFLICT = 401, 403, 404, 409
_TOO_MANY, _SERVER_ERROR, _UNAVAILABLE = 429, 500, 503
_INVALID: Final = {400, 413, 415, 422}
_NO_FIELD: Final = "<nil>"
"""The field of a cause by which the API says that some rules were not checked because others failed."""

_LARGEST_STATUS: Final = 64 * 1024


class NotAllowed(StorageUnavailable):
    """The API server answered that this user may not do it."""


class Cause(Struct, frozen=True):
    """One reason of a refusal."""

    reason: str = ""
    message: str = ""
    field: str = ""


class _Details(Struct, frozen=True, rename="camel"):
    causes: tuple[Cause, ...] | None = None
    retry_after_seconds: int = 0


class Status(Struct, frozen=True):
    """The API's description of a refusal."""

    kind: str = ""
    reason: str = ""
    message: str = ""
    code: int = 0
    details: _Details | None = None

    @property
    def causes(self) -> tuple[Cause, ...]:
        """The reasons, one by one."""
        return () if self.details is None else self.details.causes or ()


def status_of(body: bytes) -> Status:
    """The Status in a body; an empty one where it is none: a proxy answers with pages of its own."""
    try:
        status = msgspec.json.decode(body, type=Status)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return Status()
    return status if status.kind == "Status" else Status()


def no_fence() -> float:
    """The fence of the only replica: it never falls."""
    return math.inf


class ApiServer:
    """An API server as one user. `doing` begins every message, such as `writing Secret/a/b`."""

    def __init__(
        self,
        http: Http,
        login: Login,
        *,
        fence: Callable[[], float] = no_fence,
        stats: ClusterStats | None = None,
    ) -> None:
        """`fence`: for how many seconds writes may still leave; 0: none may. `stats` counts requests."""
        self.stats = stats or ClusterStats()
        self._http = http
        self._fence = fence
        self._login = login
        self.outage: StorageUnavailable | None = None
        """Why the last request reached no server; None once one was answered."""
        self._next_look = 0.0
        self.on_change: Callable[[], object] = lambda: None
        """Called when an outage begins, and when it is over."""

    async def read(
        self, path: str, *, doing: str, params: Mapping[str, str] | None = None, accept: str = JSON
    ) -> Answer | None:
        """The answer to a GET; None if the API says that there is no such object, or no such resource.

        A server that is overloaded is asked again: that is no failure of the caller.
        """
        for tries in range(1, MAX_READ_TRIES + 1):
            try:
                return await self._read(path, doing=doing, params=params, accept=accept)
            except TooManyRequests as error:
                if tries == MAX_READ_TRIES:
                    raise
                pause = _PAUSES.pause(tries) if error.retry_after is None else error.retry_after
            await asyncio.sleep(pause)
        return None

    async def _read(
        self, path: str, *, doing: str, params: Mapping[str, str] | None, accept: str
    ) -> Answer | None:
        answer = await self._send("GET", path, doing=doing, params=params, accept=accept)
        if answer.status == _NOT_FOUND and status_of(answer.body).reason == "NotFound":
            return None
        self._check(answer, wrote=False)
        return answer

    async def check_reachable(self) -> None:
        """Raise StorageUnavailable while no server is found; it is looked for once in a second."""
        if self.outage is None:
            return
        now = asyncio.get_running_loop().time()
        if now < self._next_look:
            raise self.outage
        self._next_look = now + LOOK_EVERY
        await self._read("/readyz", doing="looking for the API server", params=None, accept="*/*")

    async def write(
        self,
        method: str,
        path: str,
        body: Body | None,
        *,
        doing: str,
        params: Mapping[str, str] | None = None,
        accept: str = JSON,
    ) -> Answer:
        """The answer to a write that was carried out. Raises HomeError.

        The fence is asked again as the bytes leave: a process may be stopped for a minute in between.
        """
        late = StorageUnavailable(f"{doing}: another replica is the active one, or this one only observes")
        left, held = self._fence(), False
        if left <= 0:
            raise late

        def may_leave() -> bool:
            nonlocal held
            held = self._fence() <= 0
            return not held

        if body is not None:
            body = replace(body, may_leave=may_leave)
        try:
            async with asyncio.timeout(None if left == math.inf else left):
                answer = await self._send(method, path, doing=doing, params=params, body=body, accept=accept)
        except OutcomeUnknown:
            if held:
                raise late from None
            raise
        except TimeoutError:
            raise OutcomeUnknown(f"{doing}: another replica may be the active one now") from None
        self._check(answer, wrote=True)
        return answer

    @asynccontextmanager
    async def watch(
        self, path: str, *, doing: str, params: Mapping[str, str], accept: str, silence: float
    ) -> AsyncGenerator[Stream, None]:
        """A stream of events. Raises HomeError where the server refuses it, or cannot be reached."""
        headers: dict[str, str] = {}

        async def remember(sent: Mapping[str, str]) -> Answer:
            headers.update(sent)
            return Answer(doing, 200, {}, b"")

        await self._login.use(remember)
        headers["Accept"] = accept
        code: int | None = None
        try:
            async with self._http.stream(
                path, doing=doing, params=params, headers=headers, silence=silence
            ) as stream:
                code = stream.status
                self.stats.answered("GET", path, code, watches=True)
                if code != 200:  # noqa: PLR2004  # of HTTP
                    body = await stream.start(_LARGEST_STATUS)
                    found = {name.lower(): value for name, value in stream.headers.items()}
                    self._check(Answer(doing, code, found, body), wrote=False)
                self._answered()
                yield stream
        except SyncError as error:
            if code is None:
                self.stats.answered("GET", path, None, watches=True)
            raise self._unreachable(error) from None

    async def _send(
        self,
        method: str,
        path: str,
        *,
        doing: str,
        params: Mapping[str, str] | None = None,
        body: Body | None = None,
        accept: str,
    ) -> Answer:
        async def ask(headers: Mapping[str, str]) -> Answer:
            answer = await self._http.request(
                method,
                path,
                doing=doing,
                params=params,
                headers={**headers, "Accept": accept},
                body=body,
                accept=_ALL_STATUSES,
            )
            self.stats.answered(method, path, answer.status)
            return answer

        try:
            answer = await self._login.use(ask)
            if answer.status == _UNAUTHORIZED:  # the token's file is read anew for each request
                answer = await self._login.use(ask)
        except Throttled as error:
            raise TooManyRequests(str(error), retry_after=error.retry_after) from None
        except NotReached as error:
            self.stats.answered(method, path, None)
            raise self._unreachable(error) from None
        except SyncError as error:
            self.stats.answered(method, path, None)
            if method == "GET":
                raise self._unreachable(error) from None
            raise OutcomeUnknown(str(error)) from None
        self._answered()
        return answer

    def _answered(self) -> None:
        if self.outage is not None:
            self.outage = self.stats.unreachable_since = None
            self.on_change()

    def _unreachable(self, error: SyncError) -> StorageUnavailable:
        began = self.outage is None
        self.outage = StorageUnavailable(str(error), hint=error.hint)
        if began:
            self.stats.unreachable_since = asyncio.get_running_loop().time()
            self.on_change()
        return self.outage

    def _check(self, answer: Answer, *, wrote: bool) -> None:
        if answer.status >= 300:  # noqa: PLR2004  # of HTTP
            raise refusal(answer, wrote=wrote)


def refusal(answer: Answer, *, wrote: bool) -> HomeError:
    """The error for an unsuccessful status. `wrote`: the request asked for a change."""
    status = status_of(answer.body)
    message = f"{answer.doing}: {status.message or f'HTTP {answer.status}'}"
    code = answer.status
    if code in {_TOO_MANY, _UNAVAILABLE}:
        pause = retry_after(answer.headers.get("retry-after", ""), lambda: 0.0)
        if code == _TOO_MANY or pause is not None:
            return TooManyRequests(message, retry_after=pause)
    if code == _NOT_FOUND:
        return NotFound(message)
    if code == _CONFLICT:
        return AlreadyExists(message) if status.reason == "AlreadyExists" else Conflict(message)
    if code == _FORBIDDEN:
        return _forbidden(status, message)
    if code in _INVALID:
        named = (cause for cause in status.causes if cause.field != _NO_FIELD)
        found = (Problem(path=cause.field, message=cause.message) for cause in named)
        return Invalid(message, found)
    if code >= _SERVER_ERROR and wrote and code != _UNAVAILABLE:
        return OutcomeUnknown(message)
    hint = "is the token or the certificate still valid?" if code == _UNAUTHORIZED else ""
    return StorageUnavailable(message, hint=hint)


def _forbidden(status: Status, message: str) -> HomeError:
    if any(cause.reason == "NamespaceTerminating" for cause in status.causes):
        return Forbidden(message)
    return NotAllowed(
        message,
        hint="grant it to the ServiceAccount, or to the user of the kubeconfig; a quota may refuse it, too",
    )
