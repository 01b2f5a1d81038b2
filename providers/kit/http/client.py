"""An HTTP client: a pool of connections, limits of time and size, and errors with hints."""

import asyncio
import math
import re
import ssl
import time
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlencode, urljoin, urlsplit

from syncret.config.version import version
from syncret.providers.answer_memory import AnswerMemory, call_share
from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.kit.http.answers import Answer, Body, error_of_status, header_dict
from syncret.providers.kit.http.bodies import LARGEST, read_body
from syncret.providers.kit.http.streams import Stream
from syncret.providers.kit.http.targets import Target, target_of
from syncret.providers.kit.http.tls import SYSTEM, Tls
from syncret.providers.network import Network

if TYPE_CHECKING:  # aiohttp takes 200 ms to import, and most commands call no server
    import aiohttp

    from syncret.providers.kit.http.sessions import Sessions

CONNECTIONS: Final = 100
"""Connections of one client; calls are limited by the store's token bucket."""

_REDIRECTS: Final = {301, 302, 303, 307, 308}
_SAME_METHOD: Final = {307, 308}
_MOST_REDIRECTS: Final = 5
_LARGEST_UNREAD: Final = 64 * 1024
"""The most bytes of an unwanted body that are read so that its connection can be used again."""
_LONGEST_UNREAD: Final = 1.0
"""The most seconds that they are waited for."""

_NOT_IN_HEADERS: Final = re.compile(r"[\r\n\x00]")
_READS: Final = {"GET", "HEAD"}
_OF_CONNECTION: Final = {
    *("connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "proxy-authenticate"),
    *("proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"),
}
"""Headers that set the end or the target of a request: two servers could interpret them differently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """Seconds. The engine also limits each call (`callTimeout`); these may be shorter."""

    connect: float = 10.0
    total: float | None = 60.0
    """From the first byte sent to the last byte read, redirects and repeats included."""

    def ends(self) -> float:
        """When a request that begins now ends, on the clock `time.monotonic`."""
        return math.inf if self.total is None else time.monotonic() + self.total


class Http:
    """An HTTP client. Use it as a context manager: leaving the block closes its connections.

    Args:
        base: the prefix of relative addresses, such as `https://vault:8200`.
        tls: the CAs to trust, and a client certificate.
        headers: sent with every request.
        timeouts: for each request.
        largest: bytes of a response, uncompressed.
        connections: that may be open at the same time.
        trusts_redirects: whether a redirect to another server is followed, which then receives all headers:
            for clusters whose members point at each other. Redirects on the same server are followed. From
            https to http none is.
        now: the wall clock, for a Retry-After that is a date.
        network: which servers may be reached, and the memory for their answers; None for the daemon's own
            requests, such as those to the metadata server of its cloud.
        parses: whether responses are parsed as a whole.
        names_servers: whether errors name the server; not if its name is made of values.
        proxy: the URL of the proxy for all requests; empty: as the environment says.
    """

    def __init__(  # noqa: PLR0913  # options, all by name
        self,
        base: str = "",
        *,
        tls: Tls = SYSTEM,
        headers: Mapping[str, str] | None = None,
        timeouts: Timeouts = Timeouts(),
        largest: int = LARGEST,
        connections: int = CONNECTIONS,
        trusts_redirects: bool = False,
        now: Callable[[], float] = time.time,
        network: Network | None,
        parses: bool = True,
        names_servers: bool = True,
        proxy: str = "",
    ) -> None:
        self.base = base.rstrip("/")
        self._tls = tls
        self._headers = {"User-Agent": user_agent(), "Accept-Encoding": "identity", **(headers or {})}
        self._timeouts = timeouts
        self._largest = largest
        self._connections = connections
        self._trusts_redirects = trusts_redirects
        self._now = now
        self._network = network
        self._open = False
        self._ssl: ssl.SSLContext | None = None
        """None for the system's trust store, which is read with the first request."""
        self._active = 0
        self._memory = AnswerMemory() if network is None else network.answers
        self._parses = parses
        self._names_servers = names_servers
        self._proxy = proxy
        self._sessions: Sessions | None = None

    async def request(
        self,
        method: str,
        url: str,
        *,
        doing: str,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Body | None = None,
        accept: Collection[int] = (),
    ) -> Answer:
        """The response, if its status is 2xx or among `accept`. Raises SyncError otherwise.

        `url` is absolute, or a path below `base`. `doing` begins every message: `reading key a`. Of the
        URL, messages contain the server only: paths and queries may be secret.
        """
        sent = dict(headers or {})
        if body is not None and body.type:
            sent.setdefault("Content-Type", body.type)
        for name, value in sent.items():
            if _NOT_IN_HEADERS.search(name + value):
                raise Malformed(f"{doing}: a header holds a line break", hint="trim the value it is made of")
            if name.strip().lower() in _OF_CONNECTION:
                raise Malformed(
                    f"{doing}: the header {name.strip()} is for the connection to set",
                    hint="leave it out: host and length are those of the URL and the body",
                )
        target = self._target(self._absolute(url, params), doing)
        ends = self._timeouts.ends()
        for _ in range(_MOST_REDIRECTS + 1):
            answer = await self._exchange(method, target, doing, sent, body, accept, ends)
            location = answer.headers.get("location", "")
            if answer.status not in _REDIRECTS or answer.status in accept or not location:
                break
            target = self._redirected(answer, method, target, location)
        else:
            raise Malformed(f"{doing}: {target.server} redirects in circles", hint="check the store's URL")
        if _is_wanted(answer.status, accept):
            return answer
        failed = error_of_status(doing, answer.status, answer.headers, self._now)
        if isinstance(failed, Unavailable):
            failed.problem = f"{target.server} answers with HTTP {answer.status}"
        raise failed

    @asynccontextmanager
    async def stream(
        self, url: str, *, doing: str, params: Mapping[str, str], headers: Mapping[str, str], silence: float
    ) -> AsyncGenerator[Stream, None]:
        """A response of any status that is read while it comes, without a limit of its whole time or size.

        It fails as Unavailable once nothing came for `silence` seconds. Redirects are not followed.
        """
        from syncret.providers.kit.http.failures import FAILURES, failure  # see above

        target = self._target(self._absolute(url, params), doing)
        self._check_egress(target, doing)
        failed: SyncError
        try:
            response = await self._opened().send(
                "GET", target, headers, None, repeats=True, ends=math.inf, silence=silence
            )
        except FAILURES as error:
            failed = failure(error, doing, target.server)
        else:
            try:
                yield Stream(response, doing, target.server)
            finally:
                if response.connection is not None and response.connection.transport is not None:
                    response.connection.transport.abort()  # the rest of the body is unwanted
                response.close()
            return
        raise failed

    async def __aenter__(self) -> Self:
        if self._tls != SYSTEM:
            self._ssl = self._tls.of_session()
        self._open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        self._ssl = None
        await self._close_sessions()

    async def _close_sessions(self) -> None:
        """Close all connections; the next request opens another."""
        sessions, self._sessions = self._sessions, None
        if sessions is not None:
            await sessions.close()

    def _opened(self) -> "Sessions":
        """The connections; none is open before the first request."""
        from syncret.providers.kit.http.sessions import Sessions  # see above

        if not self._open:
            raise RuntimeError("an Http is used inside its `async with` block")
        if self._sessions is None:
            self._sessions = Sessions(
                context=self._ssl or self._tls.of_session(),
                server_name=self._tls.server_name,
                headers=self._headers,
                connect=self._timeouts.connect,
                connections=self._connections,
                network=self._network,
            )
        return self._sessions

    def _check_egress(self, target: Target, doing: str) -> None:
        """Raise Denied for a server that the network does not allow."""
        if self._network is not None:
            try:
                self._network.egress.check_host(target.host)
            except Denied as error:
                raise error.within(doing) from None

    async def _exchange(
        self,
        method: str,
        target: Target,
        doing: str,
        headers: Mapping[str, str],
        body: Body | None,
        accept: Collection[int],
        ends: float,
    ) -> Answer:
        from syncret.providers.kit.http.failures import FAILURES, failure  # see above

        share = call_share.get()
        if share is not None:
            share.server = target.server
        failed: SyncError
        async with self._active_request():
            self._check_egress(target, doing)
            repeats = method in _READS and not (share is not None and share.once)
            try:
                async with await self._opened().send(
                    method, target, headers, body, repeats=repeats, ends=ends
                ) as response:
                    content = await self._content(response, accept)
                    return Answer(doing, response.status, header_dict(response.headers), content)
            except SyncError as error:
                failed = error.within(doing)
            except FAILURES as error:
                failed = failure(error, doing, target.server)
        # Raised outside of the handler: an error that quotes the URL must not become the context.
        try:
            raise failed
        finally:
            del failed  # it would keep this frame, and with it the response

    @asynccontextmanager
    async def _active_request(self) -> AsyncGenerator[None, None]:
        """Around each request: after the last one all connections are closed, if too many are open."""
        self._active += 1
        try:
            yield
        finally:
            self._active -= 1
            # A single connection is one that must stay, as a login holds for it.
            if not self._active and self._connections > 1 and self._is_crowded():
                await self._close_sessions()

    def _is_crowded(self) -> bool:
        return self._network is not None and self._network.connections.crowded

    async def _content(self, response: "aiohttp.ClientResponse", accept: Collection[int]) -> bytes:
        """The body; of a status that is not accepted none, since only the status is reported."""
        from syncret.providers.kit.http.failures import FAILURES  # see above

        if _is_wanted(response.status, accept):
            return await read_body(response, self._memory, self._largest, parsed=self._parses)
        with suppress(SyncError, *FAILURES):
            async with asyncio.timeout(_LONGEST_UNREAD):
                await read_body(response, self._memory, _LARGEST_UNREAD, inflated=False)
        return b""

    def _absolute(self, url: str, params: Mapping[str, str] | None) -> str:
        if "://" not in url:
            url = f"{self.base}/{url.removeprefix('/')}"
        if params:
            url += ("&" if "?" in url else "?") + urlencode(params)
        return url

    def _target(self, url: str, doing: str) -> Target:
        target = target_of(url, doing, self._proxy)
        return target if self._names_servers else target._replace(server="the server")

    def _redirected(self, answer: Answer, method: str, target: Target, location: str) -> Target:
        try:
            joined = urljoin(target.url, location)
        except ValueError:  # an address in brackets that is none
            joined = ""
        redirected = self._target(joined, answer.doing)
        message = f"{answer.doing}: {target.server} redirects (HTTP {answer.status})"
        if target.origin.startswith("https:") and not redirected.origin.startswith("https:"):
            raise Malformed(
                f"{message} to {redirected.server} without TLS, where the credentials could be intercepted",
                hint="have the server name itself with https://",
            )
        if redirected.origin != target.origin and not self._trusts_redirects:
            raise Malformed(
                f"{message} to {redirected.server}, which would receive the credentials",
                hint="write that server's URL into the store, if it is the right one",
            )
        if method not in {"GET", "HEAD"} and answer.status not in _SAME_METHOD:
            raise Malformed(f"{message} a {method}, which would lose its body", hint="write the final URL")
        return redirected

    def is_own_server(self, url: str) -> bool:
        """Whether an absolute URL is on the server of `base`, after normalizing host and port."""
        try:
            return target_of(url, "").origin == target_of(self.base, "").origin
        except Malformed:
            return False

    def __repr__(self) -> str:
        state = "open" if self._open else "closed"
        return f"<Http {urlsplit(self.base).netloc.rpartition('@')[2] or '-'} {state}>"


def _is_wanted(status: int, accept: Collection[int]) -> bool:
    return 200 <= status < 300 or status in accept  # noqa: PLR2004  # statuses of HTTP


def user_agent() -> str:
    """The User-Agent header."""
    return f"syncret/{version()}"
