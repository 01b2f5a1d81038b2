"""The embedded store passes the suite, and does what only it does."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager
from typing import Any

import pytest

from syncret.providers.contract import Client
from syncret.providers.fake import PROVIDER
from syncret.providers.fake.manager import SecretManager, Seed
from syncret.providers.fake.spec import FakeSpec
from syncret.providers.testing import Ability, Entry, Fault, Harness, HoldsText, ProviderSuite
from syncret.providers.work import Work
from tests.support.opened import context

IN_MEMORY = "it lives in memory: nothing stands between it and the daemon that could fail"


class CountingManager(SecretManager):
    """Counts what was really written."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0

    def put(self, key: str, value: bytes, work: Work, name: str = "") -> bool:
        written = super().put(key, value, work, name)
        self.writes += written
        return written


class FakeHarness(HoldsText):
    lacks: Mapping[Ability, str] = {
        Ability.FIND_PATH: "ESO's fake provider finds by name only",
        Ability.FIND_TAGS: "ESO's fake provider finds by name only",
        Ability.THROTTLE: IN_MEMORY,
        Ability.DENY: IN_MEMORY,
        Ability.TIME_OUT: IN_MEMORY,
        Ability.REFUSE_KEY: IN_MEMORY,
        Ability.OWN: "ESO's fake provider marks nothing",
        Ability.ROTATE: "it has no credentials",
    }
    canaries: tuple[str, ...] = ()
    versions: tuple[str, str] = ("v1", "v2")

    def __init__(self) -> None:
        self.manager = CountingManager()
        self._keep: dict[str, Any] = {"manager": self.manager}

    async def seed(self, *entries: Entry) -> None:
        self.manager.seed(Seed(entry.key, entry.value.decode(), entry.version) for entry in entries)

    async def stored(self, key: str) -> bytes | None:
        return self.manager.get(key)

    async def writes(self) -> int:
        return self.manager.writes

    def open(self) -> AbstractAsyncContextManager[Client]:
        return self._open()

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator[Client, None]:
        assert PROVIDER.open is not None
        async with PROVIDER.open(FakeSpec(data=()), context(keep=self._keep)) as client:
            yield client

    def broken(self, fault: Fault) -> AbstractContextManager[None]:
        raise AssertionError(f"it cannot {fault}")

    def refusing(self, key: str) -> AbstractContextManager[None]:
        raise AssertionError(f"it cannot refuse {key}")

    async def rotate(self) -> None:
        raise AssertionError("it cannot change credentials")


class TestFake(ProviderSuite):
    @pytest.fixture
    def harness(self) -> Harness:
        return FakeHarness()
