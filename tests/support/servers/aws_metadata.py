"""Gives credentials to what runs at AWS: instance metadata (IMDSv2), containers, EKS Pod Identity."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

from aiohttp import web

from tests.support.served import served
from tests.support.servers.aws import Gateway, Person

ROLE: Final = "node-role"
POD_TOKEN: Final = "pod-identity-token-51c0"


class Metadata:
    """One machine's metadata. Credentials are new each time they are asked for."""

    def __init__(self, gate: Gateway) -> None:
        self.gate = gate
        self.given = 0
        self.minutes = 360
        """How long credentials live. The SDK renews those that end within ten."""
        self._sessions: set[str] = set()
        self._numbers = count(1)

    async def session(self, request: web.Request) -> web.Response:
        """PUT /latest/api/token: IMDSv2 gives nothing without it."""
        if not request.headers.get("X-aws-ec2-metadata-token-ttl-seconds", "").isdigit():
            return web.Response(status=400)
        self._sessions.add(token := f"imds-session-{next(self._numbers)}")
        return web.Response(text=token)

    async def role(self, request: web.Request) -> web.Response:
        return web.Response(text=ROLE) if self._known(request) else web.Response(status=401)

    async def role_credentials(self, request: web.Request) -> web.Response:
        if not self._known(request):
            return web.Response(status=401)
        return web.json_response({"Code": "Success", "Type": "AWS-HMAC", **self._drawn()})

    async def container(self, request: web.Request) -> web.Response:
        """What the agents of ECS and EKS answer."""
        if request.headers.get("Authorization") != POD_TOKEN:
            return web.json_response({"code": "AccessDenied"}, status=403)
        return web.json_response(self._drawn())

    def _known(self, request: web.Request) -> bool:
        return request.headers.get("X-aws-ec2-metadata-token") in self._sessions

    def _drawn(self) -> dict[str, str]:
        self.given += 1
        key = f"ASIAMETADATA{self.given:08}"
        person = Person(
            f"arn:aws:iam::123456789012:role/{ROLE}", f"metadata-secret-{self.given}", "metadata-token"
        )
        self.gate.people[key] = person
        ends = datetime.now(UTC) + timedelta(minutes=self.minutes)
        return {
            "AccessKeyId": key,
            "SecretAccessKey": person.secret,
            "Token": person.token,
            "Expiration": ends.strftime("%Y-%m-%dT%H:%M:%SZ"),
        }


@asynccontextmanager
async def metadata(gate: Gateway) -> AsyncGenerator[tuple[Metadata, str], None]:
    """The server and its address."""
    server = Metadata(gate)
    app = web.Application()
    app.router.add_put("/latest/api/token", server.session)
    credentials = "/latest/meta-data/iam/security-credentials/"
    app.router.add_get(credentials, server.role)
    app.router.add_get(credentials + ROLE, server.role_credentials)
    app.router.add_get("/v1/credentials", server.container)
    async with served(app) as address:
        yield server, address
