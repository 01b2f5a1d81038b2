"""A gRPC server of gRPC's own library, whose messages are protobuf's: what our client is measured with."""

from abc import abstractmethod
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from typing import Any, Final, TypeAlias, TypeVar

from tests.support.tls import Pair

_GRPC: Final[Any] = import_module("grpc")  # both have no types
_DESCRIPTORS: Final[Any] = import_module("google.protobuf.descriptor_pb2")
_FACTORY: Final[Any] = import_module("google.protobuf.message_factory")
_POOL: Final[Any] = import_module("google.protobuf.descriptor_pool")

Types: TypeAlias = Mapping[str, Any]
"""Classes of messages by name."""

Answer: TypeAlias = Callable[[Any], object]
"""What becomes of a request: a message of the method's answer."""


class Refused(Exception):
    """A call ends with a status, and maybe with the seconds to wait."""

    def __init__(self, status: str, retry: int | None = None) -> None:
        super().__init__(status)
        self.status = status
        self.retry = retry


def schema(package: str, **messages: Mapping[str, tuple[int, str]]) -> Types:
    """Classes of messages, from numbers and types of fields: `string`, or `*Entry` for a repeated one."""
    file = _DESCRIPTORS.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    for name, fields in messages.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            made = message.field.add(name=field, number=number, label=3 if kind.startswith("*") else 1)
            scalar = {"string": 9, "bytes": 12, "int32": 5, "int64": 3, "bool": 8}.get(kind.strip("*"))
            made.type = scalar or 11
            if scalar is None:
                made.type_name = f".{package}.{kind.strip('*')}"
    pool = _POOL.DescriptorPool()
    pool.Add(file)
    return {
        name: _FACTORY.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}")) for name in messages
    }


STATUS: Final = schema(
    "google.rpc",
    Status={"code": (1, "int32"), "message": (2, "string"), "details": (3, "*Any")},
    Any={"type_url": (1, "string"), "value": (2, "bytes")},
    RetryInfo={"retry_delay": (1, "Duration")},
    Duration={"seconds": (1, "int64"), "nanos": (2, "int32")},
)


class GrpcServer:
    """A manager with tokens and entries. Its methods run in threads of the library."""

    def __init__(self) -> None:
        self.url = ""
        self.port = 0
        self.token = "canary-token-1"
        """The one that is good."""
        self.calls: list[str] = []
        """The method of each call that was let in."""
        self.refused: set[str] = set()
        """Keys that nobody may read."""
        self.fault: Refused | None = None
        self.headers: dict[str, str] = {}
        """Those of the last call."""

    @abstractmethod
    def methods(self) -> Mapping[str, tuple[Any, Answer]]:
        """By `service/method`: the class of its requests, and what becomes of one."""

    def enter(self, method: str, key: str = "") -> None:
        """Let a call in, for an entry. Raises Refused."""
        if self.headers.get("authorization") != f"Bearer {self.token}":
            raise Refused("UNAUTHENTICATED")
        self.calls.append(method)
        if key in self.refused:
            raise Refused("PERMISSION_DENIED")

    @contextmanager
    def failing(self, fault: Refused) -> Generator[None, None, None]:
        """Every call is refused so, for as long as the block lasts."""
        self.fault = fault
        try:
            yield
        finally:
            self.fault = None

    def handlers(self) -> list[Any]:
        """What gRPC's library serves."""
        services: dict[str, dict[str, Any]] = {}
        for path, (request, answer) in self.methods().items():
            service, _, method = path.partition("/")
            services.setdefault(service, {})[method] = _GRPC.unary_unary_rpc_method_handler(
                self._handler(answer),
                request_deserializer=request.FromString,
                response_serializer=_serialized,
            )
        return [_GRPC.method_handlers_generic_handler(*each) for each in services.items()]

    def _handler(self, answer: Answer) -> Callable[[Any, Any], object]:
        def handle(request: Any, context: Any) -> object:  # noqa: ANN401  # gRPC's own
            self.headers = dict(context.invocation_metadata())
            try:
                if self.fault is not None:
                    raise self.fault
                return answer(request)
            except Refused as refused:
                status = getattr(_GRPC.StatusCode, refused.status)
                if refused.retry is not None:
                    context.set_trailing_metadata(
                        (("grpc-status-details-bin", _details(status.value[0], refused.retry)),)
                    )
                return context.abort(status, "words of the server: canary-9b1f4c")

        return handle


def _serialized(message: Any) -> bytes:  # noqa: ANN401  # protobuf's own
    return bytes(message.SerializeToString())


def _details(code: int, seconds: int) -> bytes:
    info = STATUS["RetryInfo"](retry_delay=STATUS["Duration"](seconds=seconds))
    kept = STATUS["Any"](type_url="type.googleapis.com/google.rpc.RetryInfo", value=_serialized(info))
    return _serialized(STATUS["Status"](code=code, details=[kept]))


S = TypeVar("S", bound=GrpcServer)


@asynccontextmanager
async def grpc_running(server: S, pair: Pair) -> AsyncGenerator[S, None]:
    """The server, over TLS at a port of loopback."""
    credentials = _GRPC.ssl_server_credentials([(pair.key, pair.certificate)])
    with ThreadPoolExecutor(4) as threads:
        running = _GRPC.server(threads, handlers=server.handlers())
        server.port = running.add_secure_port("127.0.0.1:0", credentials)
        server.url = f"https://127.0.0.1:{server.port}"
        running.start()
        try:
            yield server
        finally:
            running.stop(None).wait()
