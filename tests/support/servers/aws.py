"""AWS for tests: moto in a process of its own, and before it a gateway that counts, verifies and fails.

Moto believes everybody. The gateway recomputes every signature, as AWS does, knows who may do what, and can
be told to throttle, to refuse and to fall silent.
"""

import asyncio
import hmac
import json
import math
import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from hashlib import sha256
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import parse_qs

import aiohttp
import pytest
from aiohttp import web

from syncret.providers.aws import sdk
from tests.support.served import all_to, served

REGION: Final = "eu-west-1"
SERVICES: Final = (
    "ACM",
    "ECR",
    "ECR_PUBLIC",
    "RESOURCE_GROUPS_TAGGING_API",
    "SECRETSMANAGER",
    "SSM",
    "STS",
)
_MOTO: Final = """
import logging
logging.getLogger("werkzeug").setLevel("ERROR")
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
create_backend_app("ssm")  # the first takes a second, and clients wait for no more than two
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
print(server.server_port, flush=True)
server.serve_forever()
"""

_SCOPE: Final = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<date>\d+)/(?P<region>[^/]+)/(?P<service>[^/]+)"
    r"/aws4_request, *SignedHeaders=(?P<headers>[^,]+), *Signature=(?P<signature>[0-9a-f]{64})"
)
_WRITES: Final = re.compile(r"Put|Create|Delete|Update|Tag|Untag|Add|Remove|Replicate|Import|Restore")


@contextmanager
def moto_server() -> Generator[str, None, None]:
    """The address of a moto server that lives for as long as the block."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", _MOTO], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            assert port, f"moto ended with {process.wait()} before it listened"
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


@pytest.fixture(scope="session")
def moto() -> Generator[str, None, None]:
    with moto_server() as address:
        yield address


class Call(NamedTuple):
    """One call as it came in."""

    service: str
    operation: str
    key: str
    """The access key of who made it; empty where it is not signed."""
    parameters: Mapping[str, Any]

    def names(self) -> list[str]:
        """The secrets or parameters that it is about."""
        given = self.parameters
        single = (given.get("SecretId"), given.get("Name"), given.get("CertificateArn"))
        return [*given.get("SecretIdList", ()), *given.get("Names", ()), *filter(None, single)]


class Fault(NamedTuple):
    """What is answered in the place of AWS."""

    status: int
    code: str
    text: str = ""
    headers: Mapping[str, str] = {}


Reply: TypeAlias = Callable[[Call], Awaitable[Mapping[str, Any] | Fault]]
"""Answers one operation in the place of moto."""

SILENCE: Final = Fault(0, "")
"""No answer at all."""


class Person(NamedTuple):
    """Somebody whom AWS knows: for good, or with a session token until it ends."""

    arn: str
    secret: str
    token: str = ""
    expires: float = math.inf
    tags: Mapping[str, str] = {}


class Gateway:
    """What stands between a test and moto. `calls` are all that were let in."""

    def __init__(self, moto: str, http: aiohttp.ClientSession) -> None:
        self.people = {
            "AKIATESTTESTTESTTEST": Person("arn:aws:iam::123456789012:user/ada", "secret-access-key-8c1d")
        }
        """Who AWS knows, by access key."""
        self.now: Callable[[], float] = time.time
        self.sts: Callable[[Call, Person | None], web.Response] | None = None
        """Who answers in the place of moto's STS, which believes everybody."""
        self.calls: list[Call] = []
        self.fault: Fault | Callable[[Call], Fault | None] | None = None
        self.refused: set[str] = set()
        """Names that nobody may read."""
        self.forbidden: set[str] = set()
        """Operations that nobody may do."""
        self.replies: dict[str, Reply] = {}
        """Answers to operations that moto does not know."""
        self._moto = moto
        self._http = http

    def count(self, *operations: str) -> int:
        """How many calls there were of these operations; of all where none is named."""
        return sum(not operations or call.operation in operations for call in self.calls)

    def writes(self) -> int:
        return sum(bool(_WRITES.match(call.operation)) for call in self.calls)

    async def behind(self, service: str, operation: str, **parameters: object) -> dict[str, Any]:
        """What moto says to a call that no provider made; an error is an answer too."""
        scope = f"Credential=behind/20200101/{REGION}/{service}/aws4_request"
        headers = {
            "X-Amz-Target": f"{_TARGETS[service]}.{operation}",
            "Content-Type": "application/x-amz-json-1.1",
            "Authorization": f"AWS4-HMAC-SHA256 {scope}, SignedHeaders=host, Signature=0",
        }
        async with self._http.post(self._moto, data=json.dumps(parameters), headers=headers) as answer:
            document: dict[str, Any] = json.loads(await answer.read())
            return document

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        scope = _SCOPE.fullmatch(request.headers.get("Authorization", ""))
        call = _call(request, body, scope)
        denied = self._unknown(request, body, scope)
        if denied is not None:
            return _answer(call, denied)
        self.calls.append(call)
        fault = self.fault(call) if callable(self.fault) else self.fault
        if fault is SILENCE:
            await self.silence(request)
        if fault is None and (call.operation in self.forbidden or self._all_refused(call)):
            fault = Fault(
                400, "AccessDeniedException", f"{call.key} is not authorized to do {call.operation}"
            )
        if fault is not None:
            return _answer(call, fault)
        if call.service == "sts" and self.sts is not None:
            return self.sts(call, self.people.get(call.key))
        if call.operation in self.replies:
            reply = await self.replies[call.operation](call)
            return _answer(call, reply) if isinstance(reply, Fault) else web.json_response(reply)
        return await self._forward(request, call, body)

    @staticmethod
    async def silence(request: web.Request) -> None:
        """Wait until the caller has given up."""
        while request.transport is not None and not request.transport.is_closing():  # noqa: ASYNC110  # no event
            await asyncio.sleep(0.02)

    async def _forward(self, request: web.Request, call: Call, body: bytes) -> web.StreamResponse:
        refused = [name for name in call.names() if name in self.refused]
        if refused:  # only a batch of Secrets Manager comes here
            left = [name for name in call.names() if name not in self.refused]
            body = json.dumps({**call.parameters, "SecretIdList": left}).encode()
        headers = {key: value for key, value in request.headers.items() if key not in _OF_ONE_HOP}
        async with self._http.request(
            request.method, self._moto + request.path_qs, data=body, headers=headers
        ) as answer:
            content = await answer.read()
            status, kind = answer.status, answer.headers.get("Content-Type", "application/json")
        if refused:
            document = json.loads(content)
            document["Errors"] = [*document.get("Errors", ()), *map(_refusal, refused)]
            content = json.dumps(document).encode()
        return web.Response(status=status, body=content, headers={"Content-Type": kind})

    def _all_refused(self, call: Call) -> bool:
        """IAM judges each secret of a batch, but all parameters together."""
        names = self.refused.intersection(call.names())
        return bool(names) and (call.operation != "BatchGetSecretValue" or len(names) == len(call.names()))

    def _unknown(self, request: web.Request, body: bytes, scope: "re.Match[str] | None") -> Fault | None:
        """What is wrong with the signature. A call without one is judged by whom it is made to."""
        if scope is None:
            return None if "Authorization" not in request.headers else Fault(403, "IncompleteSignature")
        person = self.people.get(scope["key"])
        if person is None or request.headers.get("X-Amz-Security-Token", "") != person.token:
            text = f"The security token included in the request is invalid: {scope['key']}"
            return Fault(403, "UnrecognizedClientException", text)
        if person.expires <= self.now():
            return Fault(403, "ExpiredTokenException", f"The security token {person.token} is expired")
        expected = _signature(request, body, scope, person.secret)
        return None if expected == scope["signature"] else Fault(403, "InvalidSignatureException")


def always(document: Mapping[str, Any]) -> Reply:
    """The same answer to every call."""

    async def reply(_call: Call) -> Mapping[str, Any]:
        return document

    return reply


@asynccontextmanager
async def gateway(moto: str) -> AsyncGenerator[tuple[Gateway, str], None]:
    """A gateway before an emptied moto, and its address."""
    async with aiohttp.ClientSession(auto_decompress=False) as http:
        async with http.post(f"{moto}/moto-api/reset") as answer:
            answer.raise_for_status()
        gate = Gateway(moto, http)
        async with served(all_to(gate.handle)) as address:
            yield gate, address


@asynccontextmanager
async def gated(moto: str, patch: pytest.MonkeyPatch) -> AsyncGenerator[Gateway, None]:
    """A gateway that all services of AWS are reached by."""
    patch.setattr(sdk, "READ_TIMEOUT", 2.0)
    async with gateway(moto) as (gate, address):
        isolate(patch, address)
        yield gate


@pytest.fixture
async def gate(moto: str, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[Gateway, None]:
    """As a fixture."""
    async with gated(moto, monkeypatch) as gate:
        yield gate


def isolate(patch: pytest.MonkeyPatch, address: str) -> None:
    """Lead all services to an address, and hide what this machine has of AWS."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        patch.delenv(name)
    for service in SERVICES:
        patch.setenv(f"AWS_{service}_ENDPOINT", address)
    patch.setenv("AWS_CONFIG_FILE", os.devnull)
    patch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    patch.setenv("AWS_EC2_METADATA_DISABLED", "true")


_TARGETS: Final = {
    "acm": "CertificateManager",
    "tagging": "ResourceGroupsTaggingAPI_20170126",
    "secretsmanager": "secretsmanager",
    "ssm": "AmazonSSM",
}
_OF_ONE_HOP: Final = {"Host", "Content-Length", "Connection", "Transfer-Encoding", "Accept-Encoding"}


def _call(request: web.Request, body: bytes, scope: "re.Match[str] | None") -> Call:
    target = request.headers.get("X-Amz-Target", "")
    service = scope["service"] if scope else "sts"
    key = scope["key"] if scope else ""
    if target:
        return Call(service, target.rpartition(".")[2], key, json.loads(body or b"{}"))
    form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
    return Call(service, form.pop("Action", ""), key, form)


def _signature(request: web.Request, body: bytes, scope: "re.Match[str]", secret: str) -> str:
    """The signature that AWS would compute (Signature Version 4)."""
    headers = "".join(
        f"{name}:{request.headers.get(name, '').strip()}\n" for name in scope["headers"].split(";")
    )
    path, _, query = request.path_qs.partition("?")
    canonical = [request.method, path, query, headers, scope["headers"], sha256(body).hexdigest()]
    within = f"{scope['date']}/{scope['region']}/{scope['service']}/aws4_request"
    digest = sha256("\n".join(canonical).encode()).hexdigest()
    told = f"AWS4-HMAC-SHA256\n{request.headers.get('X-Amz-Date', '')}\n{within}\n{digest}"
    key = f"AWS4{secret}".encode()
    for step in within.split("/"):
        key = hmac.digest(key, step.encode(), "sha256")
    return hmac.digest(key, told.encode(), "sha256").hex()


def refusal_of_sts(fault: Fault) -> web.Response:
    """An error in the words of a service that speaks XML."""
    error = f"<Error><Code>{fault.code}</Code><Message>{fault.text}</Message></Error>"
    text = f"<ErrorResponse>{error}</ErrorResponse>"
    return web.Response(status=fault.status, text=text, content_type="text/xml", headers=fault.headers)


def _answer(call: Call, fault: Fault) -> web.Response:
    if call.service == "sts":
        return refusal_of_sts(fault)
    document = {"__type": fault.code, "message": fault.text}
    return web.json_response(document, status=fault.status, headers=fault.headers)


def _refusal(name: str) -> dict[str, str]:
    return {"SecretId": name, "ErrorCode": "AccessDeniedException", "Message": f"no policy allows {name}"}
