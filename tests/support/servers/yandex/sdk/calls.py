"""Yandex Cloud's own SDK for Python logs in, and makes the calls that standard input names as JSON.

What becomes of them is a list: messages as JSON, or the names of their statuses. Runs in the environment of
`requirements/yandex.txt`.
"""

import json
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    asked = json.load(sys.stdin)
    grpc: Any = import_module(
        "grpc"
    )  # the libraries of this environment are not those that types are checked with
    form: Any = import_module("google.protobuf.json_format")
    vendor: Any = import_module("yandexcloud")
    login = {"service_account_key": asked["key"]} if asked["key"] else {}  # without: that of the machine
    sdk = vendor.SDK(root_certificates=asked["authority"].encode(), **login)

    def call(place: str, service: str, method: str, request: dict[str, Any]) -> object:
        messages = import_module(f"yandex.cloud.{place}_pb2")
        stub = getattr(import_module(f"yandex.cloud.{place}_pb2_grpc"), f"{service}Stub")
        kind = messages.DESCRIPTOR.services_by_name[service].methods_by_name[method].input_type
        message = form.ParseDict(request, getattr(messages, kind.name)())
        try:
            return form.MessageToDict(getattr(sdk.client(stub), method)(message, timeout=20))
        except grpc.RpcError as error:
            return error.code().name

    json.dump([call(*each) for each in asked["calls"]], sys.stdout)


if __name__ == "__main__":
    main()
