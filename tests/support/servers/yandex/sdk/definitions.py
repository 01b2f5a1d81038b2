"""Prints the compiled protocol files of Yandex Cloud's own SDK, as one FileDescriptorSet.

Runs in the environment of `requirements/yandex.txt`.
"""

import sys
from importlib import import_module
from typing import Any, Final

SERVICES: Final = (
    "certificatemanager.v1.certificate_content_service",
    "certificatemanager.v1.certificate_service",
    "endpoint.api_endpoint_service",
    "iam.v1.iam_token_service",
    "lockbox.v1.payload_service",
    "lockbox.v1.secret_service",
)


def main() -> None:
    found: Any = import_module("google.protobuf.descriptor_pb2").FileDescriptorSet()
    seen: set[str] = set()

    def add(file: Any) -> None:  # noqa: ANN401  # protobuf's own
        """What a file imports stands before it."""
        if file.name not in seen:
            seen.add(file.name)
            for each in file.dependencies:
                add(each)
            file.CopyToProto(found.file.add())

    for service in SERVICES:
        add(import_module(f"yandex.cloud.{service}_pb2").DESCRIPTOR)
    sys.stdout.buffer.write(found.SerializeToString())


if __name__ == "__main__":
    main()
