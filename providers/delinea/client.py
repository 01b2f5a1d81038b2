"""The client of a DevOps Secrets Vault store: the endpoint, and what it does with it.

https://dsv.secretsvaultcloud.com/api
"""

from typing import Final

import msgspec

from syncret.providers.errors import Malformed
from syncret.providers.kit import extract
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.http.answers import segments
from syncret.providers.kit.remote_keys import Versioned
from syncret.providers.kit.rest.clients import ApiClient
from syncret.providers.kit.rest.endpoints import Endpoint, literal
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_GRANT: Final = "give the client's role a policy that allows to read the path"


class _Secret(msgspec.Struct):
    data: msgspec.Raw = msgspec.Raw(b"{}")


class DelineaClient(Versioned, ApiClient, SingleReads[SecretBytes]):
    """Reads and probes. A payload is the JSON object of a secret's data."""

    async def fetch_one(self, key: RemoteKey) -> SecretBytes | None:
        if key.version:
            raise Malformed("specifying a version is not yet supported", hint="leave version out")
        path = segments(*key.key.strip("/").split("/"))
        reading = Endpoint("GET", literal(f"/secrets/{path}"), literal(f"reading secret {key.key}"), _GRANT)
        answer = await self._api.look_up(reading)
        return None if answer is None else SecretBytes(bytes(answer.decode(_Secret).data))

    def value(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """The data as JSON, or what a gjson path leads to; None if it leads nowhere."""
        if payload.raw == b"null":
            return None
        data = gojson.unmarshal(payload.raw, work, keep_numbers=True)
        whole = gojson.marshal(data, work).encode("utf-8", "surrogateescape")
        if not ref.property:
            return SecretBytes(whole)
        found = extract.member_or_path(whole, ref.property, work)
        return None if found is None else SecretBytes(found)

    def fields(self, payload: SecretBytes, ref: RemoteRef, work: Work) -> SecretMap | None:
        """The members of the data; a property is no part of it."""
        whole = self.value(payload, RemoteRef(ref.key), work)
        return None if whole is None else extract.members(whole.raw, f"secret {ref.key}", work)
