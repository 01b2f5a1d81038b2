"""The client of a Google Secret Manager store.

Filters of lists: https://cloud.google.com/secret-manager/docs/filtering.
"""

import re
from collections.abc import Sequence
from typing import Final

from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Malformed
from syncret.providers.gcpsm.api import Api
from syncret.providers.gcpsm.payloads import Payload, SecretMetadata, value_of
from syncret.providers.gcpsm.push import Pusher
from syncret.providers.kit import extract
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.google.errors import Unusable
from syncret.providers.kit.paging import Matches, has_tags
from syncret.providers.kit.push_options import DelegatedWrites
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work


def filter_text(path: str, labels: Sequence[tuple[str, str]]) -> str:
    """The filter expression for a part of a name and for labels."""
    terms = [f"labels.{_word(key)}={_word(value)}" for key, value in labels]
    return " ".join([*terms, f"name:{_word(path)}"] if path else terms)


def _word(text: str) -> str:
    """A word of the filter language, quoted if it could be read as more than a word."""
    if re.fullmatch(r"[\w-]+", text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


_LATEST: Final = "latest"


class GcpSmClient(SingleReads[Payload], DelegatedWrites):
    """Reads, finds, pushes, deletes and probes. No batches: Google has no API for them.

    Args:
        falls_back: whether to use the newest enabled version if the latest is disabled or destroyed.
    """

    converts_keys = True

    def __init__(self, api: Api, location: str, compute: Compute, *, falls_back: bool) -> None:
        self._api = api
        self._writer = Pusher(api, location, compute)
        self._falls_back = falls_back

    def value(self, payload: Payload, ref: RemoteRef, work: Work) -> SecretBytes | None:
        return value_of(payload, ref, work)

    def fields(self, payload: Payload, ref: RemoteRef, work: Work) -> SecretMap | None:
        return extract.members(value_of(payload, ref, work).raw, "unable to unmarshal secret from JSON", work)

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        path = query.path or ""
        if query.name is None and not query.tags:
            raise Malformed("unexpected find operator", hint="write find.name.regexp or find.tags")
        tags = () if query.name is not None else query.tags or ()  # as in the operator, the name goes first
        matches = regexp.matcher(query.name or "", work)
        found = Matches()
        async for secret in self._api.list(filter_text(path, tags), paced):
            if secret.id.startswith(path) and has_tags(secret.labels, tags) and matches(secret.id):
                found.add_name(secret.id)
        return await found.read_values(self._latest, paced, doing="gcpsm find")

    async def probe(self) -> Readiness:
        await self._api.check_login()
        return "ready"

    async def fetch_one(self, key: RemoteKey) -> Payload | None:
        if key.metadata:
            secret = await self._api.get(key.key)
            return None if secret is None else SecretMetadata(secret.annotations, secret.labels)
        try:
            return await self._api.access(key.key, key.version or _LATEST)
        except Unusable:
            if key.version or not self._falls_back:
                raise
        newest = await self._api.newest_enabled(key.key)
        return await self._api.access(key.key, newest or _LATEST)

    async def _latest(self, name: str) -> SecretBytes | None:
        """The latest version; None for a secret without versions."""
        found = await self.read_current(name)
        return found if isinstance(found, SecretBytes) else None
