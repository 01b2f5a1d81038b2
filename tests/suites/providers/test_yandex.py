"""Yandex Lockbox and Certificate Manager pass the suite, on a server written from the protocol files."""

import json
from base64 import b64decode, b64encode
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from syncret.config.meta import Document
from syncret.providers.testing import Ability, Entry, Harness, ProviderSuite
from tests.suites.providers.rest_harness import HoldsFields, RestHarness, read_only, texts_of
from tests.support.opened import NOW
from tests.support.servers.rest import running
from tests.support.servers.yandex.server import FOLDER, Yandex
from tests.support.tls import Authority

pytestmark = [pytest.mark.slow, pytest.mark.conformance]

NO_PUSH = "as ESO has it, stores in Yandex Cloud are read only"
NO_PATH = "names in Yandex Cloud have no path"
BY_ID = "a store whose keys are IDs has no folder to search"
AUTHORITY = Authority()


class YandexHarness(RestHarness[Yandex]):
    folder = ""
    lacks: Mapping[Ability, str] = {}
    versions: tuple[str, str] = ("v1", "v2")

    def __init__(self, server: Yandex) -> None:
        super().__init__(server)
        self.given.secrets["login"] = {"key": server.key_file()}
        self.given.secrets["ca"] = {"ca.crt": AUTHORITY.pem}

    def spec(self) -> Document:
        by_id: Document = {"byID": {}}
        return {
            "apiEndpoint": self.server.url.removeprefix("https://"),
            "auth": {"authorizedKeySecretRef": {"name": "login", "key": "key"}},
            "caProvider": {"certSecretRef": {"name": "ca", "key": "ca.crt"}},
            "fetching": {"byName": {"folderID": self.folder}} if self.folder else by_id,
        }

    @property
    def canaries(self) -> tuple[str, ...]:
        return (self.server.token, "BEGIN PRIVATE KEY")

    async def stored(self, key: str) -> bytes | None:
        raise AssertionError(f"nothing is pushed: {key}")

    async def rotate(self) -> None:
        self.server.key, self.server.token = "yandex-2", ""
        self.given.secrets["login"] = {"key": self.server.key_file()}


class LockboxHarness(HoldsFields, YandexHarness):
    provider = "yandexlockbox"
    lacks: Mapping[Ability, str] = {
        **read_only(NO_PUSH),
        Ability.FIND_NAME: BY_ID,
        Ability.FIND_TAGS: BY_ID,
        Ability.FIND_PATH: NO_PATH,
    }

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            self.server.secrets.setdefault(entry.key, []).append({**texts_of(entry.value)})
            self.server.labels[entry.key] = dict(entry.tags)


class LockboxByNameHarness(LockboxHarness):
    """As the operator has it, a whole secret that is read by name has base64 in its JSON."""

    folder = FOLDER
    lacks: Mapping[Ability, str] = {**read_only(NO_PUSH), Ability.FIND_PATH: NO_PATH}

    def whole(self, text: str) -> bytes:
        return json.dumps({"value": b64encode(text.encode()).decode()}, separators=(",", ":")).encode()

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            plain = entry.value if b'"user"' in entry.value else super().whole(_decoded(entry.value))
            await super().seed(entry._replace(value=plain))


def _decoded(value: bytes) -> str:
    return b64decode(json.loads(value)["value"]).decode()


class CertificateHarness(YandexHarness):
    """The text of a value stands where PEM does."""

    provider = "yandexcertificatemanager"
    folder = FOLDER
    lacks: Mapping[Ability, str] = {
        **read_only(NO_PUSH),
        Ability.FIND_PATH: NO_PATH,
        Ability.PROPERTY: "certificates have a chain and a private key, and nothing else",
        Ability.MAP: "certificates have a chain and a private key, and nothing else",
    }

    def whole(self, text: str) -> bytes:
        return f"{text}\nits key\n".encode()

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            chain = entry.value.decode().removesuffix("\nits key\n")
            self.server.certificates.setdefault(entry.key, []).append(([chain], "its key\n"))
            self.server.labels[entry.key] = dict(entry.tags)

    async def stored(self, key: str) -> bytes | None:
        return (
            self.whole(self.server.certificates[key][-1][0][0]) if key in self.server.certificates else None
        )


class CertificateByIdHarness(CertificateHarness):
    folder = ""
    lacks: Mapping[Ability, str] = {
        **CertificateHarness.lacks,
        Ability.FIND_NAME: BY_ID,
        Ability.FIND_TAGS: BY_ID,
    }


class OnYandex(ProviderSuite):
    made: ClassVar[type[YandexHarness]]

    @pytest.fixture
    @asynccontextmanager
    async def harness(self, tmp_path: Path) -> AsyncGenerator[Harness]:
        async with running(Yandex(lambda: NOW), AUTHORITY.server(tmp_path)) as server:
            yield self.made(server)


class TestLockbox(OnYandex):
    made: ClassVar[type[YandexHarness]] = LockboxHarness


class TestLockboxByName(OnYandex):
    made: ClassVar[type[YandexHarness]] = LockboxByNameHarness


class TestCertificateManager(OnYandex):
    made: ClassVar[type[YandexHarness]] = CertificateHarness


class TestCertificateManagerByID(OnYandex):
    made: ClassVar[type[YandexHarness]] = CertificateByIdHarness
