"""Yandex Cloud over gRPC, as its SDKs and the operator speak it, in front of our server of its REST API.

Each call becomes the REST call that the vendor's own definition says it is, and its answer the message that
stands there: one state is behind both, and a server that does not follow the definition is found out.
"""

import http.client
import json
import ssl
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from typing import Any, Final, cast
from urllib.parse import quote, urlencode

from tests.support.servers.grpc import Answer, GrpcServer, Refused, grpc_running
from tests.support.servers.yandex.definitions import Definitions, Method, definitions, filled, printed
from tests.support.servers.yandex.server import Yandex
from tests.support.tls import Authority

_STATUSES: Final[Mapping[int, str]] = {each.value[0]: each.name for each in import_module("grpc").StatusCode}
_PATIENCE: Final = 10.0


class Face(GrpcServer):
    """All methods that have a REST call."""

    def __init__(self, known: Definitions, connect: Callable[[], http.client.HTTPConnection]) -> None:
        super().__init__()
        self._known = known
        self._connect = connect
        """To the server of the REST API."""

    def methods(self) -> Mapping[str, tuple[Any, Answer]]:
        return {
            f"{each.service}/{each.name}": (each.request, partial(self._answer, each))
            for each in self._known.methods
        }

    def _answer(self, method: Method, message: Any) -> object:  # noqa: ANN401  # protobuf's own
        fields = printed(message)
        path = method.path
        for field in method.request.DESCRIPTOR.fields:
            if f"{{{field.name}}}" in path:
                value = str(fields.pop(field.json_name, ""))
                path = path.replace(f"{{{field.name}}}", quote(value, safe=""))
        body = json.dumps(fields) if method.body == "*" else None
        query = "" if method.body else urlencode(sorted(_flat(fields).items()))
        status, document = self._called(method.verb, f"{path}?{query}" if query else path, body)
        if status >= http.HTTPStatus.BAD_REQUEST:
            raise Refused(_STATUSES[filled(self._known.message("google.rpc.Status"), document).code])
        self.calls.append(f"{method.service}/{method.name}")
        return filled(method.response, document)

    def _called(self, verb: str, path: str, body: str | None) -> tuple[int, Any]:
        authorization = str(self.headers.get("authorization", ""))
        headers = {"Host": f"127.0.0.1:{self.port}", "Authorization": authorization}
        connection = self._connect()
        try:
            connection.request(verb, path, body, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()


def _flat(fields: Mapping[str, Any], before: str = "") -> dict[str, str]:
    """Fields as query parameters: those of a message within have its name before them."""
    found: dict[str, str] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping):
            found |= _flat(cast("Mapping[str, Any]", value), f"{before}{name}.")
        else:
            found[f"{before}{name}"] = str(value)
    return found


@asynccontextmanager
async def faced(server: Yandex, authority: Authority, hosts: str = "127.0.0.1") -> AsyncGenerator[Face, None]:
    """The gRPC face of a running server, for these hosts. If both have TLS, it is with one authority."""
    trust = ssl.create_default_context(cadata=authority.pem.decode())

    def connect() -> http.client.HTTPConnection:
        if server.url.startswith("https://"):
            return http.client.HTTPSConnection("127.0.0.1", server.port, timeout=_PATIENCE, context=trust)
        return http.client.HTTPConnection("127.0.0.1", server.port, timeout=_PATIENCE)

    async with grpc_running(Face(definitions(), connect), authority.pair(hosts)) as face:
        yield face
