from collections.abc import Generator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from acme_directory import DirectorySpec, open_directory

from syncret.providers.contract import Client
from syncret.providers.testing import Ability, Entry, Fault, Harness, HoldsText, ProviderSuite, context

READ_ONLY = "the store is read only"
LOCAL = "nothing between a local folder and the daemon could do this"


class DirectoryHarness(HoldsText):  # any text is a value, any simple name is a key
    lacks: Mapping[Ability, str] = {
        Ability.VERSION: "files have no versions",
        Ability.FIND_PATH: "folders in the folder are not looked into",
        Ability.FIND_TAGS: "files have no tags",
        Ability.PUSH: READ_ONLY,
        Ability.PUSH_PROPERTY: READ_ONLY,
        Ability.DELETE: READ_ONLY,
        Ability.DELETE_PROPERTY: READ_ONLY,
        Ability.EXISTS: READ_ONLY,
        Ability.OWN: READ_ONLY,
        Ability.THROTTLE: LOCAL,
        Ability.DENY: LOCAL,
        Ability.TIME_OUT: LOCAL,
        Ability.ROTATE: "a folder has no credentials",
    }
    canaries: tuple[str, ...] = ()
    versions: tuple[str, str] = ("v1", "v2")

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def seed(self, *entries: Entry) -> None:
        for entry in entries:
            (self._folder / entry.key).write_bytes(entry.value)

    async def stored(self, key: str) -> bytes | None:
        file = self._folder / key
        return file.read_bytes() if file.exists() else None

    async def writes(self) -> int:
        return 0

    def open(self) -> AbstractAsyncContextManager[Client]:
        return open_directory(DirectorySpec(path=str(self._folder)), context())

    def broken(self, fault: Fault) -> AbstractContextManager[None]:
        raise AssertionError(f"it cannot {fault}")

    @contextmanager
    def refusing(self, key: str) -> Generator[None, None, None]:
        (self._folder / key).unlink()
        (self._folder / key).mkdir()  # a folder where a file is expected
        yield
        (self._folder / key).rmdir()

    async def rotate(self) -> None:
        raise AssertionError("it cannot change credentials")


class TestDirectory(ProviderSuite):
    @pytest.fixture
    def harness(self, tmp_path: Path) -> Harness:
        return DirectoryHarness(tmp_path)
