"""The control socket: what `syncret status`, `explain` and `refresh` talk to. Its mode is its only lock."""

import errno
import os
import socket
import stat
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from pathlib import Path
from typing import Final

import msgspec
from aiohttp import web

from syncret.config.settings import Settings
from syncret.daemon.core.explain.explain import ExplainInput, Explanation, explain
from syncret.daemon.ops import status
from syncret.daemon.ops.bind_errors import CannotListen
from syncret.daemon.ops.http import BACKLOG, running, streamed
from syncret.daemon.ops.operator_requests import Refused, UnknownObject, find, refresh
from syncret.daemon.ops.view import Serve, View

LONGEST_PATH: Final = 107
"""Bytes that Linux takes as the name of a socket."""

ELSEWHERE: Final = "choose another with --socket PATH, or none with --socket ''"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def control_service(settings: Settings) -> AsyncGenerator[Serve, None]:
    """Listen at `settings.socket`, if it is set, for as long as the block is open. Raises CannotListen."""
    if not settings.socket:
        yield lambda _: nullcontext()
        return
    path = Path(settings.socket)
    listener = bound(path)
    identity = _inode(path)

    @asynccontextmanager
    async def serve(view: View) -> AsyncGenerator[None, None]:
        async with running(application(view)) as runner:
            await web.SockSite(runner, listener).start()
            yield

    try:
        yield serve
    finally:
        listener.close()
        if _inode(path) == identity:  # not that of a successor
            _remove(path)


def bound(path: Path) -> socket.socket:
    """A socket that listens at the path, with mode 0600. Raises CannotListen.

    That of a dead process is replaced.
    """
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise CannotListen(f"{path}: is longer than {LONGEST_PATH} bytes", hint=ELSEWHERE)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_way(path)
        os.fchmod(listener.fileno(), 0o600)  # before bind: there is no moment with another mode
        listener.bind(str(path))
        listener.listen(BACKLOG)  # at once: whoever is refused takes a socket for that of a dead process
    except OSError as error:
        listener.close()
        raise CannotListen(f"{path}: {error.strerror}", hint=ELSEWHERE) from error
    except CannotListen:
        listener.close()
        raise
    return listener


def _inode(path: Path) -> int | None:
    try:
        return path.lstat().st_ino
    except FileNotFoundError:
        return None


def _remove(path: Path) -> None:
    with suppress(FileNotFoundError):
        path.unlink()


def _make_way(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise CannotListen(f"{path}: is not a socket", hint=f"remove it, or {ELSEWHERE}")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(0.1)
        code = caller.connect_ex(str(path))
    if code != errno.ECONNREFUSED:
        raise CannotListen(f"{path}: another daemon listens there", hint=f"stop it, or {ELSEWHERE}")
    _remove(path)


def application(view: View) -> web.Application:
    """All routes."""

    async def told(request: web.Request) -> web.StreamResponse:
        return await streamed(request, status.pieces(view), {"Content-Type": "application/json"})

    async def explained(request: web.Request) -> web.Response:
        return _json(explanation(view, *_asked(request)))

    async def refreshed(request: web.Request) -> web.Response:
        return _json(refresh(view.controllers, find(view.controllers.inventory, *_asked(request))))

    app = web.Application(middlewares=[_refusals])
    app.router.add_get("/status", told)
    app.router.add_get("/explain", explained)
    app.router.add_post("/refresh", refreshed)
    return app


def explanation(view: View, kind: str, namespace: str, name: str) -> Explanation:
    """What there is to say of one object. Raises UnknownObject."""
    controllers, engine = view.controllers, view.controllers.engine
    stored = find(controllers.inventory, kind, namespace, name)
    ref, document = stored.ref, stored.document
    failure = controllers.context.memory.failure(ref)
    around = ExplainInput(
        now=view.clock.now(),
        due=engine.due(ref),
        running=ref in set(engine.queue.running()),
        failures=engine.failures(ref),
        error=(failure.at, failure.message, failure.hint) if failure is not None else None,
        origins=controllers.context.memory.origins(ref),
        handled=controllers.context.handles(document.get("spec", {}).get("controller")),
        store_interval=view.settings.store_interval,
    )
    return explain(document, around)


@web.middleware
async def _refusals(request: web.Request, handler: Handler) -> web.StreamResponse:
    """What an operator can mend is an answer with a remedy, not a failure of the server."""
    try:
        return await handler(request)
    except UnknownObject as error:
        return _refusal(404, str(error), error.hint)
    except Refused as error:
        return _refusal(409, str(error), error.hint)


def _asked(request: web.Request) -> tuple[str, str, str]:
    query = request.query
    return query.get("kind", ""), query.get("namespace", ""), query.get("name", "")


def _json(answer: msgspec.Struct) -> web.Response:
    return web.Response(body=msgspec.json.encode(answer), content_type="application/json")


def _refusal(code: int, message: str, hint: str) -> web.Response:
    body = msgspec.json.encode({"message": message, "hint": hint})
    return web.Response(status=code, body=body, content_type="application/json")
