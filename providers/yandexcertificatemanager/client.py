"""The client of a Yandex Certificate Manager store: the endpoints, and what it does with them.

https://yandex.cloud/en/docs/certificate-manager/api-ref/
"""

from typing import TYPE_CHECKING, Final

import msgspec

from syncret.providers.contract import Paced
from syncret.providers.kit.extract import missing_property
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.yandex.client import FolderClient
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

if TYPE_CHECKING:  # imports asyncio and TLS
    from syncret.providers.kit.rest.api import Api

_GRANT: Final = "give the service account the role certificate-manager.certificates.downloader"
_PATH: Final = "/certificate-manager/v1/certificates"

READ: Final = Endpoint("GET", f"{_PATH}/{{id}}:getContent", "reading certificate {id}", _GRANT)
READ_BY_NAME: Final = Endpoint("GET", f"{_PATH}:getEx", "reading certificate {name}", _GRANT)
LIST: Final = Endpoint(
    "GET",
    _PATH,
    "listing certificates",
    "give the service account the role certificate-manager.viewer for the folder",
)

CHAIN: Final = "chain"
KEY: Final = "privateKey"
BOTH: Final = "chainAndPrivateKey"


class Content(msgspec.Struct, rename="camel"):
    """A certificate as it is downloaded, in PEM."""

    certificate_chain: list[str] = []
    private_key: str = ""

    def __repr__(self) -> str:
        return f"<Content of {len(self.certificate_chain)} certificates>"


class CertificateManagerClient(FolderClient[Content]):
    """Reads, finds and probes."""

    def __init__(self, api: "Api", lists: str, folder: str) -> None:
        super().__init__(api, lists, LIST, folder)

    # -- read
    async def fetch_one(self, key: RemoteKey) -> Content | None:
        params = {"versionId": key.version} if key.version else {}
        if self._folder:
            params |= {"folderAndName.folderId": self._folder, "folderAndName.certificateName": key.key}
            answer = await self._api.look_up(READ_BY_NAME, params=params, name=key.key)
        else:
            answer = await self._api.look_up(READ, params=params, id=key.key)
        return None if answer is None else answer.decode(Content)

    def value(self, payload: Content, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """The chain and then the key, or one of the two."""
        del work
        chain, key = _lines(*payload.certificate_chain), _lines(payload.private_key)
        texts = {"": _lines(chain, key), BOTH: _lines(chain, key), CHAIN: chain, KEY: key}
        if ref.property not in texts:
            raise missing_property(f"unsupported property {ref.property!r}: there are {CHAIN}, {KEY}, {BOTH}")
        return SecretBytes(texts[ref.property].encode())

    def fields(self, payload: Content, ref: RemoteRef, work: Work) -> SecretMap | None:
        """Chain and key, as they came."""
        del ref, work
        chain = "\n".join(payload.certificate_chain)
        return {CHAIN: SecretBytes(chain.encode()), KEY: SecretBytes(payload.private_key.encode())}

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Certificates of the folder, by name and labels; each as its chain and its key."""

        async def read(name: str) -> SecretBytes | None:
            found = await self.read_current(name)
            return None if found is None else self.value(found, RemoteRef(name), work)

        return await self._named.find(query, read, paced, work)


def _lines(*parts: str) -> str:
    """The parts, each on lines of its own."""
    return "".join(f"{part.strip()}\n" for part in parts)
