"""Servers of somebody else, and metadata servers: for tests of the daemon's own identity."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from tests.support.served import all_to, served

CANARY = "canary-of-the-daemon"


@dataclass(kw_only=True)
class Recorder:
    """A server that keeps all that it receives, and answers everything with what helps nobody."""

    url: str = ""
    received: list[str] = field(default_factory=list[str])
    """Each request: its line, headers and body."""

    def has(self, text: str) -> bool:
        return any(text in each for each in self.received)


@asynccontextmanager
async def foreign_server() -> AsyncGenerator[Recorder, None]:
    """A server that a manifest names. It refuses every login."""
    recorder = Recorder()

    async def refuse(request: web.Request) -> web.StreamResponse:
        recorder.received.append(await _text(request))
        return web.json_response({"errors": []}, status=403)

    async with served(all_to(refuse)) as recorder.url:
        yield recorder


@asynccontextmanager
async def machine() -> AsyncGenerator[Recorder, None]:
    """The metadata servers of all clouds; each gives the canary, as token or as key."""
    recorder = Recorder()

    async def give(request: web.Request) -> web.StreamResponse:
        recorder.received.append(await _text(request))
        if request.path.startswith("/computeMetadata/"):
            return web.Response(text=CANARY, headers={"Metadata-Flavor": "Google"})
        keys = {"AccessKeyId": CANARY, "SecretAccessKey": CANARY, "Token": CANARY}
        keys["Expiration"] = "2999-01-01T00:00:00Z"
        return web.json_response({"access_token": CANARY, "expires_in": "3600", **keys})

    async with served(all_to(give)) as recorder.url:
        yield recorder


async def _text(request: web.Request) -> str:
    headers = "\n".join(f"{name}: {value}" for name, value in request.headers.items())
    return f"{request.method} {request.path_qs}\n{headers}\n\n{await request.text()}"
