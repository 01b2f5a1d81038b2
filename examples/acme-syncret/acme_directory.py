"""A store that is a folder: each file is an entry."""

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from syncret.providers.contract import OpenContext, Paced, Provider, Readiness
from syncret.providers.errors import Denied, Malformed, SyncError, Unavailable
from syncret.providers.kit import extract
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.translate import Translation, translated
from syncret.providers.spec import Model, Problem, Scope, SpecType
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

ERRORS: Mapping[type[BaseException], Translation] = {
    PermissionError: Denied,
    IsADirectoryError: Malformed,
    OSError: Unavailable,
}


class DirectorySpec(Model):
    """The folder of the files."""

    path: str
    """The folder, from the root; files in folders below it are not read. Example: /srv/secrets"""


def check(spec: DirectorySpec, _scope: Scope) -> Iterator[Problem]:
    """The rules beyond the schema; paths are relative to the spec."""
    if not spec.path.startswith("/"):
        yield Problem(path="path", message="is not absolute", hint="write it from the root: /srv/secrets")


class DirectoryClient:
    """A Reader, a Finder and a Prober. It is no Writer: there is no push to this store."""

    converts_keys = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        return await asyncio.to_thread(self._fetch, keys)

    def value(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes | None:
        if not ref.property:
            return payload
        found = extract.value(payload.raw, ref.property, work)
        return None if found is None else SecretBytes(found)

    def fields(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        value = self.value(payload, ref, work)
        if value is None:
            return None
        return extract.members(value.raw, f"the file {ref.key}", work)

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        if query.name is None:
            raise Malformed("a folder is searched by name only", hint="use find.name.regexp")
        matches = regexp.matcher(query.name, work)
        names = await paced(lambda: asyncio.to_thread(self._names))
        keys = [RemoteKey(name) for name in names if matches(name)]
        found = await paced(lambda: self.fetch(keys), reads=len(keys))
        for value in found.values():
            if isinstance(value, SyncError):
                raise value
        return {key.key: value for key, value in found.items() if isinstance(value, SecretBytes)}

    async def probe(self) -> Readiness:
        await asyncio.to_thread(self._names)
        return "ready"

    def _names(self) -> list[str]:
        with translated(ERRORS, doing="listing the folder"):
            return sorted(file.name for file in self._folder.iterdir() if file.is_file())

    def _fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        found: dict[RemoteKey, SecretBytes | SyncError] = {}
        for key in keys:
            try:
                value = self._read(key)
            except SyncError as error:
                value = error  # of this key alone
            if value is not None:
                found[key] = value
        return found

    def _read(self, key: RemoteKey) -> SecretBytes | SyncError | None:
        if key.version:
            raise Malformed("a file has no versions", hint="leave version out")
        if key.key != Path(key.key).name:
            raise Malformed("the key is no file name", hint="keys of this store have no slashes")
        with translated(ERRORS, doing="reading the file"):
            try:
                return SecretBytes((self._folder / key.key).read_bytes())
            except FileNotFoundError:
                return None  # absence is data


@asynccontextmanager
async def open_directory(spec: DirectorySpec, _context: OpenContext) -> AsyncGenerator[DirectoryClient, None]:
    """The code before `yield` logs in, the code after it logs out. Here there is nothing to do."""
    yield DirectoryClient(Path(spec.path))


PROVIDER = Provider(SpecType("directory", DirectorySpec, check=check), open=open_directory, batch_size=100)
