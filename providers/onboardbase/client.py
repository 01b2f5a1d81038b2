"""The client of an Onboardbase store: the endpoints, and what it does with them.

https://docs.onboardbase.com/api-reference
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit import extract
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Looked, Matches
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.onboardbase.cryptojs import decrypted
from syncret.providers.onboardbase.spec import OnboardbaseSpec
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_GRANT: Final = "let the API key's member read the project"

LIST: Final = Endpoint("GET", "/secrets", "reading the environment", _GRANT)
MEMBERS: Final = Endpoint("GET", "/team/members", "listing members", _GRANT)

_PIECE: Final = 20
"""The cost of decrypting a name, beside its length."""


class _Secret(msgspec.Struct):
    key: str
    value: str


class _Data(msgspec.Struct):
    secrets: list[_Secret]


class _Environment(msgspec.Struct):
    data: _Data


class OnboardbaseClient(Unversioned, ComputingClient):
    """Reads, finds and probes. One answer has all secrets; names are encrypted, too."""

    def __init__(self, spec: OnboardbaseSpec, api: Api, passcode: SecretBytes, compute: Compute) -> None:
        super().__init__(api, compute)
        self._place = {"project": spec.project, "environment": spec.environment}
        self._passcode = passcode

    # -- read
    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes]:
        names = {key.key for key in keys}
        held = await self._read(await self._list(), names.__contains__)
        return {key: held[key.key] for key in keys if key.key in held}

    def value(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """The text, or the JSON that a gjson path leads to: as in the operator, a string keeps its quotes."""
        if not ref.property:
            return payload
        from syncret.providers.kit.golang.gjson.walk import find  # slow to import

        work.make(len(payload))
        found = find(gojson.text(payload.raw), ref.property, work)
        if not found.exists:
            raise extract.missing_property(f"cannot find property {ref.property} of secret {ref.key}")
        return SecretBytes(found.raw.encode("utf-8", "surrogateescape"))

    def fields(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        """The members of the JSON object that the text, or a property of it, is."""
        found = self.value(payload, ref, work)
        return None if found is None else extract.members(found.raw, f"secret {ref.key}", work)

    async def _list(self) -> Sequence[_Secret]:
        return (await self._api.call(LIST, params=self._place)).decode(_Environment).data.secrets

    async def _read(
        self, listed: Sequence[_Secret], wanted: Callable[[str], bool]
    ) -> Mapping[str, SecretBytes]:
        """The values of the names that are wanted. Raises Denied for a wrong passcode."""
        return await self._compute(lambda work: self._decrypted(listed, wanted, work))

    def _decrypted(
        self, listed: Sequence[_Secret], wanted: Callable[[str], bool], work: Work
    ) -> dict[str, SecretBytes]:
        found: dict[str, SecretBytes] = {}
        for each in listed:
            name = self._plain(each.key, work)
            if wanted(name):
                found[name] = SecretBytes(self._plain(each.value, work).encode())
        return found

    def _plain(self, text: str, work: Work) -> str:
        work.step(_PIECE)
        work.make(len(text))
        found = decrypted(text, self._passcode.raw)
        if found is None:
            raise Denied(
                "reading the environment: the passcode does not decrypt it", hint="check auth.passcodeRef"
            )
        return found

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """The secrets whose names match; a path is what they begin with."""
        if query.tags:
            raise Malformed("secrets in Onboardbase have no tags", hint="write find.name.regexp or find.path")
        matches, looked, found = regexp.matcher(query.name or "", work), Looked("listing secrets"), Matches()
        listed = await paced(self._list)
        looked.at(listed)
        read = await self._read(listed, lambda name: matches(name) and name.startswith(query.path or ""))
        for name, value in read.items():
            found.add_value(name, value)
        return found.values

    # -- probe
    async def probe(self) -> Readiness:
        await self._api.call(MEMBERS)
        return "ready"
