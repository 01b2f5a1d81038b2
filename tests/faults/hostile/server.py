"""The server of a hostile author, and of the honest one: `python -m tests.faults.hostile.server`.

It is a process of its own, so that what it makes disturbs no measure. It prints its URL.
"""

import asyncio
import gzip
import json
import signal
import sys
import time
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from aiohttp import web

from tests.faults.hostile.manifests import MIB
from tests.support.served import served
from tests.support.servers.endless import Endless

GIGABYTES: Final = 4
"""Of a small compressed answer."""


def _objects(count: int) -> str:
    return json.dumps({f"key-{number}": {"x": 0} for number in range(count)})


def _keys(count: int) -> str:
    return json.dumps({f"key-{number}": "v" for number in range(count)})


def _documents(count: int) -> str:
    """Members that are JSON objects, for `merge`."""
    return json.dumps({f"key-{number}": json.dumps({f"k{number}": "v"}) for number in range(count)})


def _same_hash(count: int) -> str:
    """Numbers as keys, which hash alike where the hash of a text is not secret; each key comes twice."""
    return "{" + ",".join(f'"{number % (count // 2) << 61}":{number}' for number in range(count)) + "}"


BODIES: Final[Mapping[str, Callable[[int], str]]] = {
    "text": lambda size: "a" * size,
    "objects": _objects,
    "keys": _keys,
    "documents": _documents,
    "collisions": _same_hash,
    "numbers": lambda count: json.dumps(list(range(count))),
    "things": lambda count: json.dumps([{"a": "a" * 20, "x": {"y": n}} for n in range(count)]),
    "nested": lambda depth: "[" * depth + "]" * depth,
    "deep": lambda depth: '{"a":' * depth + "1" + "}" * depth,
    "digits": lambda count: '{"v":' + "9" * count + "}",
    "exponent": lambda count: '{"v":1e' + "9" * count + "}",
    "escapes": lambda count: '{"v":"' + "\\u0041" * count + '"}',
    "base64": lambda count: "QUFB" * count,
    "empty": lambda count: "[" + "[]," * count + "[]]",
    "long-key": lambda size: json.dumps({"a" * size: "v"}),
    "value": lambda size: json.dumps({"v": "a" * size}),
}
"""What `/body/NAME/NUMBER` is answered."""


@lru_cache(maxsize=4)
def body_of(name: str, number: int) -> bytes:
    """A body, made once."""
    return BODIES[name](number).encode()


@lru_cache(maxsize=1)
def _bomb() -> bytes:
    """A compressed body of some gigabytes: members of one file follow one another."""
    return gzip.compress(b"a" * (64 * MIB)) * (GIGABYTES * 16)


async def get_body(request: web.Request) -> web.StreamResponse:
    """The body in pieces: a hundred of 200 MB, which no one reads, hold up no honest answer."""
    body = memoryview(body_of(request.match_info["name"], int(request.match_info["number"])))
    headers = {"Content-Length": str(len(body)), "Content-Type": "application/json"}
    response = web.StreamResponse(headers=headers)
    await response.prepare(request)
    for begin in range(0, len(body), MIB):
        await response.write(bytes(body[begin : begin + MIB]))
    return response


async def get_honest(request: web.Request) -> web.Response:
    """A value that is another one at each read."""
    return web.Response(text=f"{request.match_info['key']} {time.time_ns()}")


async def get_bomb(_request: web.Request) -> web.Response:
    return web.Response(body=_bomb(), headers={"Content-Encoding": "gzip"})


async def get_endless(request: web.Request) -> web.StreamResponse:
    """A body without an end; `/endless/slow` gives a byte every tenth of a second."""
    slow = request.match_info["how"] == "slow"
    response = web.StreamResponse()
    await response.prepare(request)
    while True:
        await response.write(b"a" if slow else b"a" * 65536)
        if slow:
            await asyncio.sleep(0.1)


async def get_redirect(request: web.Request) -> web.Response:
    """A redirect to the next address, for ever."""
    number = int(request.match_info["number"])
    return web.Response(status=302, headers={"Location": f"/redirect/{number + 1}"}, body=b"a" * MIB)


async def get_headers(_request: web.Request) -> web.Response:
    """Headers that are larger than any body should be."""
    headers = {f"X-{number}": "a" * 7000 for number in range(1000)}
    return web.Response(headers=headers, text="{}")


async def get_later(request: web.Request) -> web.Response:
    """Too many requests: come back at a time that is no time."""
    return web.Response(status=429, headers={"Retry-After": request.match_info["when"]})


async def get_unauthorized(_request: web.Request) -> web.Response:
    """An offer to log in that is too long for any reader."""
    return web.Response(status=401, headers={"WWW-Authenticate": "NTLM " + "TlRM" * 1500})


def application() -> web.Application:
    """All routes; what is none of them is asked of an endless secret manager."""
    app = web.Application(client_max_size=64 * MIB)
    app.router.add_get("/honest/{key}", get_honest)
    app.router.add_route("*", "/body/{name}/{number}{rest:.*}", get_body)
    app.router.add_route("*", "/bomb{rest:.*}", get_bomb)
    app.router.add_route("*", "/endless/{how}{rest:.*}", get_endless)
    app.router.add_route("*", "/redirect/{number}", get_redirect)
    app.router.add_route("*", "/headers{rest:.*}", get_headers)
    app.router.add_route("*", "/later/{when}", get_later)
    app.router.add_route("*", "/unauthorized{rest:.*}", get_unauthorized)
    return app


async def serve() -> None:
    """Until SIGTERM."""
    app, manager = application(), Endless()
    app.router.add_route("*", "/{path:.*}", manager.handle)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    async with served(app) as manager.url:
        sys.stdout.write(manager.url + "\n")
        sys.stdout.flush()
        await stop.wait()


if __name__ == "__main__":
    asyncio.run(serve())
