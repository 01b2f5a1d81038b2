"""The client of a Cloud.ru store: the methods, and what it does with them.

https://github.com/cloudru-tech/secret-manager-sdk, api/v1 and api/v2
"""

from typing import Final

from syncret.providers.cloudrusm.spec import is_uuid
from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.grpc.api import GrpcApi
from syncret.providers.kit.grpc.messages import Message, encoded
from syncret.providers.kit.grpc.methods import Method
from syncret.providers.kit.paging import Matches
from syncret.providers.kit.rest.texts import VersionedTexts
from syncret.providers.pushes import PushItem
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes, SecretMap
from syncret.providers.work import Work

_READER: Final = "give the access key's account a role that reads the project's secrets"
_WRITER: Final = "give the access key's account a role that manages the project's secrets"
_SECRETS: Final = "cloud.csm.core.v2.SecretService"

READ: Final = Method(_SECRETS, "Access", "reading secret {name}", _READER)
READ_BY_ID: Final = Method(
    "sbercloud.secretmanager.v1.SecretManagerService",
    "AccessSecretVersion",
    "reading secret {name}",
    _READER,
)
SEARCH: Final = Method(_SECRETS, "Search", "listing secrets", _READER)
CREATE: Final = Method(_SECRETS, "Create", "creating secret {name}", _WRITER)
UPDATE: Final = Method(_SECRETS, "AddVersion", "changing secret {name}", _WRITER)
DELETE: Final = Method(_SECRETS, "Delete", "deleting secret {name}", _WRITER)

_LATEST: Final = "latest"
_LARGEST: Final = 2**31 - 1
_ALL_FOLDERS: Final = -1


class CloudRuClient(VersionedTexts):
    """Reads, finds, pushes, deletes and probes."""

    converts_keys = True

    def __init__(self, api: GrpcApi, compute: Compute, project: str) -> None:
        self._api = api
        self._compute = compute
        self._project = project

    # -- read
    async def fetch_one(self, key: RemoteKey) -> SecretBytes | None:
        """The value of a secret, by its path or its ID."""
        if is_uuid(key.key):
            request = encoded((1, key.key), (2, key.version or _LATEST))
            answer = await self._api.look_up(READ_BY_ID, request, name=key.key)
            return None if answer is None else _value(answer, 1)
        request = encoded((1, self._project), (2, key.key), (3, _number(key.version)))
        answer = await self._api.look_up(READ, request, name=key.key)
        return None if answer is None else _value(answer, 3)

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """The secrets below a folder whose names match, as the server compares them, by their paths."""
        regexp.matcher(query.name or "", work)  # an invalid expression is reported as by all providers
        if not (query.name or query.path or query.tags):
            raise Malformed("a search names nothing", hint="write find.name, find.path or find.tags")
        labels = [(10, encoded((1, name), (2, value))) for name, value in query.tags or ()]
        folder = (query.path or "").strip("/")
        request = encoded((1, self._project), (2, folder), (3, _ALL_FOLDERS), *labels, (11, query.name or ""))
        answer = await paced(lambda: self._api.call(SEARCH, request))
        found = Matches()
        for secret in answer.messages(1):
            found.add_name(secret.text(10))
        return await found.read_values(self.entry, paced, doing="cloudrusm find")

    # -- push
    async def store(self, item: PushItem, text: bytes, entry: SecretBytes | None) -> None:
        name, payload = self._path(item.remote_key), encoded((1, text))
        place = (1, self._project), (2, name)
        if entry is None:
            await self._api.call(CREATE, encoded(*place, (10, payload)), name=name)
        else:
            await self._api.call(UPDATE, encoded(*place, (3, payload)), name=name)

    async def remove(self, key: str) -> None:
        """Delete a secret although it has active versions."""
        name = self._path(key)
        await self._api.look_up(DELETE, encoded((1, self._project), (2, name), (3, 1)), name=name)

    def _path(self, key: str) -> str:
        if is_uuid(key):
            raise Malformed("secrets are pushed by path, not by ID", hint="write a path as remoteKey")
        return key

    # -- probe
    async def probe(self) -> Readiness:
        await self._api.check_login()
        return "ready"


def _value(answer: Message, number: int) -> SecretBytes:
    payload = answer.messages(number)
    return SecretBytes((payload[-1].raw(1) or b"") if payload else b"")


def _number(version: str) -> int:
    """A version's number; zero for the latest one, which is named by none. Raises Malformed."""
    if version in {"", _LATEST}:
        return 0
    if version.isascii() and version.isdecimal() and 0 < int(version) <= _LARGEST:
        return int(version)
    raise Malformed(f"invalid secret version {version!r}", hint="write its number, or latest")
