"""A small Vault that keeps what is pushed to it, and a log of it."""

import time
from typing import Final

from syncret.config.meta import Document, member
from tests.real.replicas.judge import Push
from tests.support.servers.small_vault import SmallVault

PROPERTY: Final = "v"
"""Each entry has this property alone."""


class PushedVault(SmallVault):
    """One versioned key-value engine. A thread for each request, and one entry for each key."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: dict[str, tuple[int, Document]] = {}
        self._metadata: dict[str, Document] = {}
        self.pushes: list[Push] = []

    def put(self, key: str, value: str) -> None:
        """What an owner of the entry writes."""
        self._entries[key] = (self._version(key) + 1, {PROPERTY: value})

    def value(self, key: str) -> str | None:
        """What stands there."""
        entry = self._entries.get(key)
        return None if entry is None else str(entry[1].get(PROPERTY))

    def _version(self, key: str) -> int:
        return self._entries[key][0] if key in self._entries else 0

    def answer(self, method: str, path: str, token: str, body: Document) -> tuple[int, Document]:
        kind, _, key = path.removeprefix("kv/").partition("/")
        if not path.startswith("kv/") or token not in self.valid:
            return super().answer(method, path, token, body)
        return self._data(method, key, body) if kind == "data" else self._about(method, key, body)

    def _data(self, method: str, key: str, body: Document) -> tuple[int, Document]:
        if method == "GET":
            self.reads.append(key)
            entry = self._entries.get(key)
            if entry is None:
                return 404, {"errors": []}
            return 200, {"data": {"data": entry[1], "metadata": {"version": entry[0]}}}
        if method == "DELETE":
            self._entries.pop(key, None)
            return 204, {}
        with self.lock:
            expected = member(body, "options").get("cas")
            if expected is not None and expected != self._version(key):
                return 400, {"errors": ["check-and-set parameter did not match the current version"]}
            data = member(body, "data")
            self._entries[key] = (self._version(key) + 1, data)
            self.pushes.append(Push(key, str(data.get(PROPERTY)), time.time()))
            return 200, {"data": {"version": self._version(key)}}

    def _about(self, method: str, key: str, body: Document) -> tuple[int, Document]:
        if method == "GET":
            found = self._metadata.get(key)
            return (404, {"errors": []}) if found is None else (200, {"data": found})
        if method == "DELETE":
            self._metadata.pop(key, None)
            self._entries.pop(key, None)
            return 204, {}
        self._metadata[key] = {**self._metadata.get(key, {}), **body}
        return 204, {}
