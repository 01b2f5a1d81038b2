"""Yandex Cloud's own SDK for Python works with the server that our providers are tested on, over gRPC."""

import asyncio
import json
import os
import subprocess
import time
from base64 import b64encode
from collections.abc import Sequence
from typing import Any, Final

import pytest

from tests.support.environments import python_with
from tests.support.served import served
from tests.support.servers.rest import running
from tests.support.servers.yandex.definitions import LOCK, SDK
from tests.support.servers.yandex.face import faced
from tests.support.servers.yandex.server import FOLDER, Yandex
from tests.support.tls import Authority
from tests.support.tunnel import tunnel_to

pytestmark = pytest.mark.slow

DOMAIN: Final = "api.cloud.yandex.net"
HOSTS: Final = {
    "iam": f"iam.{DOMAIN}",
    "lockbox": f"lockbox.{DOMAIN}",
    "lockbox-payload": f"payload.lockbox.{DOMAIN}",
    "certificate-manager": f"certificate-manager.{DOMAIN}",
    "certificate-manager-data": f"data.certificate-manager.{DOMAIN}",
}
PAYLOADS: Final = ("lockbox.v1.payload_service", "PayloadService")
SECRETS: Final = ("lockbox.v1.secret_service", "SecretService")
CONTENTS: Final = ("certificatemanager.v1.certificate_content_service", "CertificateContentService")
CERTIFICATES: Final = ("certificatemanager.v1.certificate_service", "CertificateService")


async def _called(
    server: Yandex, *calls: Sequence[Any], key: bytes | None = None, machine: str = ""
) -> tuple[list[Any], list[str]]:
    """What becomes of the calls, and the hosts that the SDK asked its proxy for: it knows one of them.

    With the address of a metadata server it logs in as the machine.
    """
    authority = Authority()
    server.addresses = {service: f"{host}:443" for service, host in HOSTS.items()}
    hosts = ",".join((DOMAIN, *HOSTS.values()))
    login = None if machine else json.loads(key or server.key_file())
    asked = {"key": login, "authority": authority.pem.decode(), "calls": calls}
    async with running(server), faced(server, authority, hosts) as face, tunnel_to(face.port) as proxy:
        done = await asyncio.to_thread(
            subprocess.run,
            [python_with(LOCK), SDK / "calls.py"],
            input=json.dumps(asked),
            env={**os.environ, "https_proxy": proxy.url, "no_proxy": "", "YC_METADATA_ADDR": machine},
            stdout=subprocess.PIPE,
            text=True,
            timeout=60,
            check=True,
        )
    return json.loads(done.stdout), [each.split()[1].partition(":")[0] for each in proxy.asked]


async def test_the_values_of_secrets() -> None:
    server = Yandex(time.time)
    server.secrets = {"db": [{"user": "old"}, {"user": "ada", "file": b"\xff"}], "refused": [{}]}
    server.refused = {"refused"}
    by_name = {"folderAndName": {"folderId": FOLDER, "secretName": "db"}}
    nobody = {"folderAndName": {"folderId": "another", "secretName": "db"}}
    told, asked = await _called(
        server,
        (*PAYLOADS, "Get", {"secretId": "db"}),
        (*PAYLOADS, "Get", {"secretId": "db", "versionId": "v1"}),
        (*PAYLOADS, "GetEx", by_name),
        (*PAYLOADS, "GetEx", {"secretId": "db", "versionId": "v1"}),
        (*PAYLOADS, "Get", {"secretId": "absent"}),
        (*PAYLOADS, "Get", {"secretId": "db", "versionId": "v3"}),
        (*PAYLOADS, "Get", {"secretId": "refused"}),
        (*PAYLOADS, "GetEx", nobody),
        (*PAYLOADS, "GetEx", {}),
    )

    old, user, file = (b64encode(each).decode() for each in (b"old", b"ada", b"\xff"))
    assert told[:4] == [
        {
            "versionId": "v2",
            "entries": [{"key": "user", "textValue": "ada"}, {"key": "file", "binaryValue": file}],
        },
        {"versionId": "v1", "entries": [{"key": "user", "textValue": "old"}]},
        {"secretId": "db", "versionId": "v2", "entries": {"user": user, "file": file}},
        {"secretId": "db", "versionId": "v1", "entries": {"user": old}},
    ]
    refusals = ["NOT_FOUND", "NOT_FOUND", "PERMISSION_DENIED", "PERMISSION_DENIED", "INVALID_ARGUMENT"]
    assert told[4:] == refusals
    assert set(asked) == {DOMAIN, HOSTS["iam"], HOSTS["lockbox-payload"]}
    assert server.logins >= 1


async def test_certificates() -> None:
    server = Yandex(time.time)
    server.certificates = {"web": [(["leaf", "root"], "a key")]}
    content = {"certificateId": "web", "certificateChain": ["leaf", "root"], "privateKey": "a key"}
    by_name = {"folderAndName": {"folderId": FOLDER, "certificateName": "web"}}
    told, asked = await _called(
        server,
        (*CONTENTS, "Get", {"certificateId": "web"}),
        (*CONTENTS, "GetEx", by_name),
        (*CONTENTS, "GetEx", {"certificateId": "web", "versionId": "v1"}),
        (*CONTENTS, "Get", {"certificateId": "absent"}),
    )

    assert told == [content, {**content, "versionId": "v1"}, {**content, "versionId": "v1"}, "NOT_FOUND"]
    assert set(asked) == {DOMAIN, HOSTS["iam"], HOSTS["certificate-manager-data"]}


async def test_lists() -> None:
    server = Yandex(time.time)
    server.secrets = {name: [{}] for name in "abc"}
    server.certificates = {"web": [([], "")]}
    server.labels = {"c": {"team": "shop"}}
    told, asked = await _called(
        server,
        (*SECRETS, "List", {"folderId": FOLDER}),
        (*SECRETS, "List", {"folderId": FOLDER, "pageSize": 1, "pageToken": "2"}),
        (*CERTIFICATES, "List", {"folderId": FOLDER}),
        (*CERTIFICATES, "List", {"folderId": "another"}),
    )
    first, second, certificates, refused = told

    assert ([each["name"] for each in first["secrets"]], first["nextPageToken"]) == (["a", "b"], "2")
    assert [(each["name"], each["labels"]) for each in second["secrets"]] == [("c", {"team": "shop"})]
    assert "nextPageToken" not in second
    assert [(each["id"], each["status"]) for each in certificates["certificates"]] == [("web", "ISSUED")]
    assert refused == "PERMISSION_DENIED"
    assert set(asked) == {DOMAIN, HOSTS["iam"], HOSTS["lockbox"], HOSTS["certificate-manager"]}


async def test_the_account_of_the_machine() -> None:
    server = Yandex(time.time)
    server.token = "t1.machine"
    server.secrets = {"db": [{"user": "ada"}]}
    async with served(server.metadata()) as metadata:
        address = metadata.removeprefix("http://")
        told, asked = await _called(server, (*PAYLOADS, "Get", {"secretId": "db"}), machine=address)

    assert told == [{"versionId": "v1", "entries": [{"key": "user", "textValue": "ada"}]}]
    assert HOSTS["iam"] not in asked


async def test_a_deleted_key_is_refused() -> None:
    server = Yandex(time.time)
    key, server.key = server.key_file(), "another"
    told, asked = await _called(server, (*PAYLOADS, "Get", {"secretId": "db"}), key=key)

    assert told == ["UNAVAILABLE"]
    assert HOSTS["iam"] in asked
    assert server.logins == 0
