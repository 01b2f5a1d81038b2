"""Yandex Cloud's own definition of its API: messages, and the REST call that each method of a service is.

They come from the protocol files in the vendor's SDK, which has them compiled, `google.api.http` included.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.support.environments import python_with

_DESCRIPTORS: Final[Any] = import_module("google.protobuf.descriptor_pb2")  # all have no types
_FACTORY: Final[Any] = import_module("google.protobuf.message_factory")
_JSON: Final[Any] = import_module("google.protobuf.json_format")
_POOL: Final[Any] = import_module("google.protobuf.descriptor_pool")

LOCK: Final = "yandex.txt"
SDK: Final = Path(__file__).parent / "sdk"
"""The programs that run in the vendor's environment."""

_VERBS: Final = ("get", "post", "put", "patch", "delete")


class Method(NamedTuple):
    """A method of a service, as REST has it."""

    service: str
    name: str
    verb: str
    path: str
    body: str
    request: Any
    """The class of its requests."""
    response: Any

    def matched(self, verb: str, path: str) -> Mapping[str, str] | None:
        """The fields that a path carries; None if it is that of another method."""
        pattern = "".join(
            f"(?P<{each[1:-1]}>[^/]+)" if each.startswith("{") else re.escape(each)
            for each in re.split(r"(\{\w+\})", self.path)
        )
        found = re.fullmatch(pattern, path) if verb == self.verb else None
        return None if found is None else found.groupdict()


class Definitions:
    """The vendor's definition."""

    def __init__(self, compiled: bytes) -> None:
        self._files = _DESCRIPTORS.FileDescriptorSet.FromString(compiled)
        self._pool = _POOL.DescriptorPool()
        for file in self._files.file:
            self._pool.Add(file)
        self.methods: Final = tuple(self._methods())

    def message(self, name: str) -> Any:  # noqa: ANN401  # protobuf's own
        """The class of a message, by its full name."""
        return _FACTORY.GetMessageClass(self._pool.FindMessageTypeByName(name))

    def method(self, service: str, name: str) -> Method:
        [found] = [each for each in self.methods if (each.service, each.name) == (service, name)]
        return found

    def called(self, verb: str, path: str) -> tuple[Method, Mapping[str, str]]:
        """The method that a REST call is, and the fields in its path."""
        found = [(each, fields) for each in self.methods if (fields := each.matched(verb, path)) is not None]
        assert found, f"no method of the vendor's services is {verb} {path}"
        return max(found, key=lambda each: len(each[0].path))  # `/{id}:getContent` is no `/{id}`

    def options(self, kind: str, described: Any, name: str) -> Any:  # noqa: ANN401  # protobuf's own
        """What an extension says of a method or a field, such as `google.api.http`."""
        known = self.message(f"google.protobuf.{kind}").FromString(described.GetOptions().SerializeToString())
        return known.Extensions[self._pool.FindExtensionByName(name)]

    def _methods(self) -> Iterator[Method]:
        for file in self._files.file:
            for service in file.service:
                described = self._pool.FindServiceByName(f"{file.package}.{service.name}")
                for each in described.methods:
                    rule = self.options("MethodOptions", each, "google.api.http")
                    types = (_FACTORY.GetMessageClass(kind) for kind in (each.input_type, each.output_type))
                    for verb in _VERBS:
                        if path := getattr(rule, verb):
                            yield Method(
                                described.full_name, each.name, verb.upper(), path, rule.body, *types
                            )


def filled(kind: Any, document: object) -> Any:  # noqa: ANN401  # protobuf's own
    """A message of this class from JSON. Raises if a member is no field of it."""
    return _JSON.ParseDict(document, kind())


def printed(message: Any, *, defaults: bool = False) -> dict[str, Any]:  # noqa: ANN401  # protobuf's own
    """A message as the JSON of the vendor's gateway; `defaults`: with the fields that are not set."""
    document: dict[str, Any] = _JSON.MessageToDict(message, always_print_fields_with_no_presence=defaults)
    return document


@cache
def definitions() -> Definitions:
    """Those of the locked SDK. The first call may take a minute, in which it is installed."""
    command = (python_with(LOCK), SDK / "definitions.py")
    return Definitions(subprocess.run(command, check=True, capture_output=True).stdout)
