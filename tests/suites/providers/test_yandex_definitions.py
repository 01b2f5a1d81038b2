"""What we send to Yandex Cloud, and what our server of its API answers, is what its protocol files define.

They are those of the vendor's SDK for Python, with the REST call that each method is.
"""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

import pytest
from aiohttp import web
from aiohttp.typedefs import Handler

from syncret.config.fields import Json
from syncret.providers.contract import Finder
from syncret.providers.errors import Denied
from syncret.providers.kit.batching import unpaced
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.yandex import names
from syncret.providers.testing.calls import fields, read
from syncret.providers.values import FindQuery, RemoteRef
from syncret.providers.work import Work
from syncret.providers.yandexcertificatemanager import client as certificates
from syncret.providers.yandexlockbox import client as lockbox
from tests.suites.providers.test_yandex import (
    AUTHORITY,
    CertificateByIdHarness,
    CertificateHarness,
    LockboxByNameHarness,
    LockboxHarness,
    YandexHarness,
)
from tests.support.opened import NOW
from tests.support.servers.rest import Refused, running
from tests.support.servers.yandex.definitions import Method, definitions, filled, printed
from tests.support.servers.yandex.server import Yandex

pytestmark = pytest.mark.slow

LOCKBOX, MANAGER = "yandex.cloud.lockbox.v1", "yandex.cloud.certificatemanager.v1"
PAYLOADS, CONTENTS = f"{LOCKBOX}.PayloadService", f"{MANAGER}.CertificateContentService"
CALLED = {
    (PAYLOADS, "Get"),
    (PAYLOADS, "GetEx"),
    (f"{LOCKBOX}.SecretService", "List"),
    (CONTENTS, "Get"),
    (CONTENTS, "GetEx"),
    (f"{MANAGER}.CertificateService", "List"),
    ("yandex.cloud.endpoint.ApiEndpointService", "List"),
    ("yandex.cloud.iam.v1.IamTokenService", "Create"),
}
ERRORS: Any = import_module("google.api_core.exceptions")  # has no types
BINARY = b"\xff\x00\xfe"


class Exchange(NamedTuple):
    """A request to the server, and its answer."""

    request: web.Request
    body: bytes
    status: int
    document: Any


class Watched(Yandex):
    """The server, which keeps what is asked and answered.

    Once `prints` is set, it answers as protobuf prints the vendor's messages: with what is not set, or not.
    """

    def __init__(self) -> None:
        super().__init__(lambda: NOW)
        self.prints: bool | None = None
        self.kept: list[Exchange] = []

    def routes(self) -> Iterable[web.AbstractRouteDef]:
        for each in super().routes():
            assert isinstance(each, web.RouteDef)
            yield web.route(each.method, each.path, partial(self._watch, each.handler))

    async def _watch(self, handler: Handler, request: web.Request) -> web.StreamResponse:
        try:
            answer = await handler(request)
        except Refused as refused:
            self._keep(request, await request.read(), refused.status, refused.document)
            raise
        assert isinstance(answer, web.Response)
        assert isinstance(answer.body, bytes)
        exchange = self._keep(request, await request.read(), answer.status, json.loads(answer.body))
        if self.prints is None:
            return answer
        message = filled(_asked(exchange)[0].response, exchange.document)
        return web.json_response(printed(message, defaults=self.prints))

    def _keep(self, *parts: Any) -> Exchange:  # noqa: ANN401  # those of an exchange
        self.kept.append(Exchange(*parts))
        return self.kept[-1]


async def _use(server: Watched) -> dict[str, object]:
    """Everything that our providers ask for, by the harness and what it is."""
    server.secrets = {"db": [{"user": "old"}, {"user": "ada", "file": BINARY, "none": ""}], "refused": [{}]}
    server.secrets |= {f"other {number}": [{}] for number in range(4)}
    server.certificates = {"web": [(["old"], "its key"), (["leaf\n", "root\n"], "a key\n")]}
    server.certificates |= {f"other {number}": [([], "")] for number in range(4)}
    server.labels = {"db": {"team": "shop"}, "web": {"team": "shop"}}
    server.refused = {"refused"}
    kinds: tuple[type[YandexHarness], ...] = (
        LockboxHarness,
        LockboxByNameHarness,
        CertificateByIdHarness,
        CertificateHarness,
    )
    found: dict[str, object] = {}
    for kind in kinds:
        key, part = ("db", "user") if issubclass(kind, LockboxHarness) else ("web", "privateKey")
        async with kind(server).open() as client:
            told: dict[str, object] = {
                "whole": await read(client, RemoteRef(key)),
                "part": await read(client, RemoteRef(key, part)),
                "version": await read(client, RemoteRef(key, part, version="v1")),
                "absent": await read(client, RemoteRef("absent")),
                "fields": await fields(client, RemoteRef(key)),
            }
            with pytest.raises(Denied):
                await read(client, RemoteRef("refused"))
            server.token = "expired"
            told["again"] = await read(client, RemoteRef(key, part))
            if kind.folder:
                assert isinstance(client, Finder)
                query = FindQuery(name="^(db|web|other)", tags=(("team", "shop"),))
                told["found"] = await client.find(query, unpaced, Work())
                assert told["found"]
        found |= {f"{kind.__name__} {name}": each for name, each in told.items()}
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("yandex")


async def _used(server: Watched, folder: Path) -> dict[str, object]:
    """The same, on the running server; the services with values are at another address than the rest."""
    async with running(server, AUTHORITY.server(folder, "127.0.0.1,localhost")):
        elsewhere = f"localhost:{server.port}"
        server.addresses = {"lockbox-payload": elsewhere, "certificate-manager-data": elsewhere}
        return await _use(server)


def _asked(exchange: Exchange) -> tuple[Method, Any]:
    """The method that a request calls, and its message. Raises if a parameter is no field of it."""
    method, in_path = definitions().called(exchange.request.method, exchange.request.rel_url.raw_path)
    return method, filled(method.request, _given(exchange, method, in_path))


def _given(exchange: Exchange, method: Method, in_path: Mapping[str, str]) -> dict[str, Any]:
    """What a request carries, as one document."""
    named = method.request.DESCRIPTOR.fields_by_name
    document: dict[str, Any] = {named[name].json_name: unquote(value) for name, value in in_path.items()}
    for name, value in exchange.request.query.items():
        *outer, last = name.split(".")
        place = document
        for each in outer:
            place = place.setdefault(each, {})
        place[last] = value
    return {**document, **json.loads(exchange.body or b"{}")}


def _set(document: Json) -> Json:
    """A document without what is empty: protobuf has no such thing."""
    if isinstance(document, list):
        return [_set(each) for each in cast("Sequence[Json]", document)]
    if isinstance(document, dict):
        members = cast("Mapping[str, Json]", document)
        return {name: _set(each) for name, each in members.items() if each not in ("", {}, [])}
    return document


def _broken(message: Any) -> Iterator[str]:  # noqa: ANN401  # protobuf's own
    """The vendor's rules on fields that a message does not keep."""
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        rules = {
            name: definitions().options("FieldOptions", field, f"yandex.cloud.{name}")
            for name in ("required", "length", "value", "pattern")
        }
        if rules["required"] and not value:
            yield f"{field.full_name} is required"
        if rules["length"] and not _within(len(value), rules["length"]):
            yield f"{field.full_name} has a length of {len(value)}"
        if rules["value"] and not _within(value, rules["value"]):
            yield f"{field.full_name} is {value}"
        if value and rules["pattern"] and not re.fullmatch(rules["pattern"], value):
            yield f"{field.full_name} does not match {rules['pattern']}"
        if field.message_type is not None and message.HasField(field.name):
            yield from _broken(value)
    for each in message.DESCRIPTOR.oneofs:
        alone = definitions().options("OneofOptions", each, "yandex.cloud.exactly_one")
        if alone and message.WhichOneof(each.name) is None:
            yield f"{each.full_name} is required"


def _within(number: int, rule: str) -> bool:
    """`<=50`, `1-50` or `50`."""
    least, _, most = rule.removeprefix("<=").rpartition("-")
    return int(least or (0 if rule.startswith("<=") else most)) <= number <= int(most)


@pytest.mark.parametrize(
    ("endpoint", "service", "name"),
    [
        pytest.param(lockbox.READ, PAYLOADS, "Get", id="a secret by ID"),
        pytest.param(lockbox.READ_BY_NAME, PAYLOADS, "GetEx", id="a secret by name"),
        pytest.param(lockbox.LIST, f"{LOCKBOX}.SecretService", "List", id="secrets"),
        pytest.param(certificates.READ, CONTENTS, "Get", id="a certificate by ID"),
        pytest.param(certificates.READ_BY_NAME, CONTENTS, "GetEx", id="a certificate by name"),
        pytest.param(certificates.LIST, f"{MANAGER}.CertificateService", "List", id="certificates"),
    ],
)
def test_an_endpoint_is_a_method(endpoint: Endpoint, service: str, name: str) -> None:
    method = definitions().method(service, name)

    assert (endpoint.method, re.sub(r"{\w+}", "{}", endpoint.path)) == (
        method.verb,
        re.sub(r"{\w+}", "{}", method.path),
    )
    assert method.body == ""


async def test_every_call_is_the_vendors(folder: Path) -> None:
    server = Watched()
    await _used(server, folder)

    called: set[tuple[str, str]] = set()
    for exchange in server.kept:
        method, message = _asked(exchange)
        in_path = definitions().called(exchange.request.method, exchange.request.rel_url.raw_path)[1]
        assert printed(message) == _set(_given(exchange, method, in_path))
        assert [*_broken(message)] == []
        has_values = method.service in {PAYLOADS, CONTENTS}
        assert exchange.request.host.startswith("localhost:") is has_values
        called.add((method.service, method.name))
    assert called == CALLED


async def test_every_answer_is_the_vendors(folder: Path) -> None:
    server = Watched()
    await _used(server, folder)

    for exchange in server.kept:
        if exchange.status == 200:
            message = filled(_asked(exchange)[0].response, exchange.document)
            assert _set(printed(message)) == _set(exchange.document)
        else:
            assert _status_of(exchange.document) == exchange.status
    assert {exchange.status for exchange in server.kept} == {200, 401, 403, 404}


def test_statuses_are_the_vendors() -> None:
    kinds = (definitions().message(f"{LOCKBOX}.Secret"), definitions().message(f"{MANAGER}.Certificate"))
    fields = (kind.DESCRIPTOR.fields_by_name["status"] for kind in kinds)

    assert {value.name for field in fields for value in field.enum_type.values} >= names.UNREADABLE


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429])
def test_a_refusal_is_a_status(status: int) -> None:
    assert _status_of(Yandex(lambda: NOW).refusal(status, "no").document) == status


def _status_of(document: object) -> int:
    """The HTTP status of a `google.rpc.Status`, as Google's library has it."""
    message = filled(definitions().message("google.rpc.Status"), document)
    code: int = ERRORS.from_grpc_status(message.code, message.message).code
    return code


@pytest.mark.parametrize("defaults", [False, True], ids=["fields that are set", "all fields"])
async def test_we_read_the_vendors_fields(*, defaults: bool, folder: Path) -> None:
    ours, printing = await _used(Watched(), folder), Watched()
    printing.prints = defaults

    assert await _used(printing, folder) == ours
    assert ours["LockboxHarness part"] == ours["LockboxHarness again"] == b"ada"
    assert ours["LockboxHarness version"] == b"old"
    whole = json.loads(str(ours["LockboxHarness whole"], "utf-8"))  # type: ignore[call-overload]  # bytes
    assert whole == {"user": "ada", "file": b64encode(BINARY).decode(), "none": ""}
    assert ours["CertificateHarness whole"] == b"leaf\nroot\na key\n"
    assert ours["CertificateByIdHarness absent"] is None
