"""The control socket of `status`, `explain`, `refresh`, completion; its mode (0600) is its access control."""

import asyncio
import errno
import os
import socket
import stat
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Final

import msgspec
from aiohttp import web

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import DELIVERY, is_shown
from syncret.config.settings import Settings
from syncret.daemon.core.explain.explain import (
    ExplainInput,
    Explanation,
    explain,
    explain_exports,
    explain_invalid,
)
from syncret.daemon.core.own_identity import verdicts_of
from syncret.daemon.ops import status
from syncret.daemon.ops.bind_errors import CannotListen
from syncret.daemon.ops.connections import serve as serve_application
from syncret.daemon.ops.failures import invalid_objects
from syncret.daemon.ops.http import BACKLOG, stream_response
from syncret.daemon.ops.operator_requests import (
    Refused,
    UnknownObject,
    clear_cache,
    find,
    names,
    ref_of,
    refresh,
)
from syncret.daemon.ops.view import Serve, View
from syncret.daemon.private_paths import NotPrivate, check_folder
from syncret.providers.kit.ambient.rules import Rules

MAX_SOCKET_PATH: Final = 107
"""Bytes that Linux allows for the path of a Unix socket."""

ELSEWHERE: Final = "choose another with --socket PATH, or none with --socket ''"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def control_service(settings: Settings) -> AsyncGenerator[Serve, None]:
    """Listen at `settings.socket`, if it is set, until the block is left. Raises CannotListen."""
    if not settings.socket:
        yield lambda _: nullcontext()
        return
    with listening_at(Path(settings.socket)) as listener:

        @asynccontextmanager
        async def serve(view: View) -> AsyncGenerator[None, None]:
            async with serve_application(application(view), [listener]):
                yield

        yield serve


@contextmanager
def listening_at(path: Path, *, hint: str = ELSEWHERE) -> Generator[socket.socket, None, None]:
    """A socket at the path that goes with the block. Raises CannotListen."""
    listener = listen_at(path, hint=hint)
    identity = _inode(path)
    try:
        yield listener
    finally:
        listener.close()
        if _inode(path) == identity:  # a successor may have replaced it
            _remove(path)


def listen_at(path: Path, *, hint: str = ELSEWHERE) -> socket.socket:
    """A socket that listens at the path, with mode 0600. Raises CannotListen.

    A stale socket, on which no process listens any more, is replaced.
    """
    if len(os.fsencode(path)) > MAX_SOCKET_PATH:
        raise CannotListen(f"{path}: is longer than {MAX_SOCKET_PATH} bytes", hint=hint)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        check_folder(path.parent)
        _remove_stale_socket(path)
        os.fchmod(listener.fileno(), 0o600)  # before bind: the file never has another mode
        listener.bind(str(path))
        listener.listen(BACKLOG)  # at once: a socket that refuses connections is taken for a stale one
    except OSError as error:
        listener.close()
        raise CannotListen(f"{path}: {error.strerror}", hint=hint) from error
    except NotPrivate as error:
        listener.close()
        raise CannotListen(f"{path}: {error}", hint=f"{error.hint}; or {hint}") from error
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


def _remove_stale_socket(path: Path) -> None:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise CannotListen(f"{path}: is not a socket", hint=f"remove it, or {ELSEWHERE}")
    if found.st_uid not in {0, os.geteuid()}:
        raise CannotListen(
            f"{path}: belongs to another user (uid {found.st_uid})", hint=f"remove it, or {ELSEWHERE}"
        )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller:
        caller.settimeout(0.1)
        code = caller.connect_ex(str(path))
    if code != errno.ECONNREFUSED:
        raise CannotListen(f"{path}: another daemon listens there", hint=f"stop it, or {ELSEWHERE}")
    _remove(path)


def application(view: View) -> web.Application:
    """The HTTP application with all routes."""

    async def get_status(request: web.Request) -> web.StreamResponse:
        return await stream_response(request, status.pieces(view), {"Content-Type": "application/json"})

    async def get_explanation(request: web.Request) -> web.Response:
        named = _object_in_query(request)
        return _json(explanation(view, *named, seen=await _blind_mounts(view, ref_of(*named))))

    async def get_names(request: web.Request) -> web.Response:
        return _json(names(view.running.inventory, request.query.get("kind", "")))

    async def post_refresh(request: web.Request) -> web.Response:
        ref = ref_of(*_object_in_query(request))
        stored = find(view.running.inventory, ref, invalid_objects(view.problems))
        return _json(refresh(view.running, stored))

    async def post_clear(request: web.Request) -> web.Response:
        return _json(clear_cache(view, request.query.get("store", "")))

    app = web.Application(middlewares=[_error_responses])
    app.router.add_get("/status", get_status)
    app.router.add_get("/explain", get_explanation)
    app.router.add_get("/names", get_names)
    app.router.add_post("/refresh", post_refresh)
    app.router.add_post("/cache/clear", post_clear)
    return app


def explanation(
    view: View, kind: str, namespace: str, name: str, *, seen: tuple[str, ...] = ()
) -> Explanation:
    """The explanation of one object; `seen` is what the host shows now. Raises UnknownObject."""
    controllers, engine = view.running, view.running.engine
    ref, every = ref_of(kind, namespace, name), invalid_objects(view.problems)
    invalid = every.get(ref)
    if invalid is not None and controllers.inventory.get(ref) is None:
        return explain_invalid(ref, invalid.place, str(invalid.problem))
    document = find(controllers.inventory, ref, every).document
    unreported = engine.unreported(ref)
    failure = unreported or controllers.context.memory.failure(ref)
    known = ExplainInput(
        now=view.clock.now(),
        due=engine.due(ref),
        running=ref in set(engine.queue.running()),
        failures=engine.failures(ref),
        error=(failure.at, failure.message, failure.hint) if failure is not None else None,
        reported=unreported is None,
        origins=controllers.context.memory.origins(ref),
        handled=controllers.context.handles(document.get("spec", {}).get("controller")),
        store_interval=view.settings.store_interval,
        manifest=controllers.context.manifest_place(ref),
        invalid=None if invalid is None else str(invalid),
        unanswered=engine.queue.unanswered(str(ref)),
        server=controllers.context.sessions.waits_for(ref),
        held=tuple(str(each) for each in engine.held_back(ref)),
        noted=(*controllers.context.memory.notes(ref), *seen),
        released=_released(view, ref),
        receivers=tuple(verdicts_of(document, view.registry, Rules.of(view.settings, os.environ))),
    )
    return explain(document, known) if is_shown(ref.group_kind) else explain_exports(ref, known)


async def _blind_mounts(view: View, ref: ObjectRef) -> tuple[str, ...]:
    """Mounts of other processes that would not show a new set of a Delivery."""
    stored = view.running.inventory.get(ref) if ref.group_kind == DELIVERY.group_kind else None
    if stored is None:
        return ()
    from syncret.config.resources.delivery.delivery import Delivery  # few hosts have any
    from syncret.daemon.delivery.mounts import blind_mounts

    spec = stored.as_type(Delivery).spec
    return await asyncio.to_thread(lambda: tuple(blind_mounts(spec)))


def _released(view: View, ref: ObjectRef) -> tuple[str, ...]:
    """The sensitive fields of releases that an object is made for."""
    if not view.releases():
        return ()
    from syncret.daemon.ops.releases import notes  # few hosts have any

    return tuple(notes(view, ref))


@web.middleware
async def _error_responses(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Errors that an operator can correct become 404 or 409 with a hint, not 500."""
    try:
        return await handler(request)
    except UnknownObject as error:
        return _error_response(404, str(error), error.hint)
    except Refused as error:
        return _error_response(409, str(error), error.hint)


def _object_in_query(request: web.Request) -> tuple[str, str, str]:
    query = request.query
    return query.get("kind", ""), query.get("namespace", ""), query.get("name", "")


def _json(answer: msgspec.Struct) -> web.Response:
    return web.Response(body=msgspec.json.encode(answer), content_type="application/json")


def _error_response(code: int, message: str, hint: str) -> web.Response:
    body = msgspec.json.encode({"message": message, "hint": hint})
    return web.Response(status=code, body=body, content_type="application/json")
