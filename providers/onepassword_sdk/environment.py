"""The client of an environment: variables, which 1Password returns all at once. It is read only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from syncret.providers.contract import Paced, Readiness
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.extract import missing_property
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Matches
from syncret.providers.onepassword_sdk.kept import Kept
from syncret.providers.onepassword_sdk.sdk import asked
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

if TYPE_CHECKING:  # an extra
    from onepassword import Client


@dataclass(frozen=True, slots=True)
class Variables:
    """All variables of an environment."""

    by_name: SecretMap = field(repr=False)


class EnvironmentClient:
    """Reads, finds and probes."""

    converts_keys = False

    def __init__(self, client: "Client", id_: str, kept: Kept) -> None:
        self._client = client
        self._id = id_
        self._kept = kept

    # -- read
    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """Whatever is asked for, all variables are read."""
        return RemoteKey("", ref.version)

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, Variables | SyncError]:
        """The same variables for each key."""
        found: dict[RemoteKey, Variables | SyncError] = {
            key: Malformed("variables have no versions that could be read", hint="leave version out")
            for key in keys
            if key.version
        }
        asked_for = [key for key in keys if not key.version]
        held = self._kept.of(asked_for)
        if len(held) < len(asked_for):
            held = dict.fromkeys(asked_for, await self._variables())
            self._kept.add(held)
        return found | held

    def value(self, payload: Variables, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """The variable that the key names; None if there is none."""
        del work
        return payload.by_name.get(ref.key)

    def fields(self, payload: Variables, ref: RemoteRef, work: Work) -> SecretMap | None:
        """As in the operator, whatever the key is: all variables, or the one that the property names."""
        del work
        if not ref.property:
            return payload.by_name
        if ref.property not in payload.by_name:
            raise missing_property(f"there is no variable {ref.property!r} in environment {self._id}")
        return {ref.property: payload.by_name[ref.property]}

    async def _variables(self) -> Variables:
        doing = f"reading environment {self._id}"
        answer = await asked(self._client.environments.get_variables(self._id), doing)
        return Variables({each.name: SecretBytes(each.value.encode()) for each in answer.variables})

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """The variables whose names match."""
        if query.tags or query.path:
            raise Malformed("variables have neither paths nor tags", hint="write find.name.regexp")
        matches, found = regexp.matcher(query.name or "", work), Matches()
        for name, value in (await paced(self._variables)).by_name.items():
            if matches(name):
                found.add_value(name, value)
        return found.values

    # -- probe
    async def probe(self) -> Readiness:
        await self._variables()
        return "ready"
