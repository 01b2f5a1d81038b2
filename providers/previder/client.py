"""The client of a Previder Vault store: the endpoints, and what it does with them.

https://vault.previder.io/swagger, https://github.com/previder/vault-cli
"""

from functools import partial
from typing import Final

import msgspec

from syncret.providers.contract import Paced, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Looked, Matches
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.clients import ApiClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_GRANT: Final = "give the store a token that may decrypt the secrets of this environment"
_MANAGE: Final = "give the store a ReadWrite token: a ReadOnly one may decrypt secrets, but not list them"

READ: Final = Endpoint("GET", "/secret/{id}/decrypt", "reading secret {id}", _GRANT)
LIST: Final = Endpoint("GET", "/secret", "listing secrets", _MANAGE)
TOKEN: Final = Endpoint("GET", "/token/info", "asking for the token", _GRANT)


class _Decrypted(msgspec.Struct):
    secret: str


class _Secret(msgspec.Struct):
    id: str
    description: str = ""


class PreviderClient(Unversioned, ApiClient, SingleReads[SecretBytes]):
    """Reads, finds and probes. As in the operator, properties are ignored, and `extract` has one key."""

    # -- read
    async def fetch_one(self, key: RemoteKey) -> SecretBytes:
        found = await self._read(key.key)
        if found is None:
            raise _absent(key.key)
        return found

    async def _read(self, id_: str) -> SecretBytes | None:
        """The value of a secret; None for a 404, which need not mean that it is gone."""
        answer = await self._api.look_up(READ, id=id_)
        return None if answer is None else SecretBytes(answer.decode(_Decrypted).secret.encode())

    def value(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes | None:
        del ref, work
        return payload

    def fields(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        del work
        return {ref.key: payload}

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Secrets whose description matches, by it; gone is what is not listed any more."""
        if query.path is not None or query.tags:
            raise Malformed("secrets in Previder Vault have no path or tags", hint="write find.name.regexp")
        matches, found = regexp.matcher(query.name or "", work), Matches()
        ids = {each.description or each.id: each.id for each in await self._list(paced)}
        for name in ids:
            if matches(name):
                found.add_name(name)

        async def read(name: str) -> SecretBytes | None:
            return await self._read(ids[name])

        values = await found.read_values(read, paced, doing="previder find")
        unread = {ids[name] for name in found.names if name not in values}
        if unread:
            for each in await self._list(paced):
                if each.id in unread:
                    raise _absent(each.id)
        return values

    async def _list(self, paced: Paced) -> list[_Secret]:
        listed = (await paced(partial(self._api.call, LIST))).decode(list[_Secret])
        Looked("listing secrets").at(listed)
        return listed

    # -- probe
    async def probe(self) -> Readiness:
        await self._api.call(TOKEN)
        return "ready"


def _absent(key: str) -> Malformed:
    return Malformed(
        f"there is no secret {key}, or the token may not see it",
        hint="check the key, and whether the token is one of this environment",
    )
