"""The client of a Pulumi ESC store: the endpoints, and what it does with them.

https://www.pulumi.com/docs/pulumi-cloud/reference/environments/
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from syncret.config.fields import Json
from syncret.config.meta import is_list, is_object
from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Looked, Matches
from syncret.providers.kit.references import as_text
from syncret.providers.kit.remote_keys import Unversioned
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import TextValues, TextWrites
from syncret.providers.pulumi import paths
from syncret.providers.pulumi.paths import Absent, Path
from syncret.providers.pulumi.spec import PulumiSpec
from syncret.providers.pushes import PushItem, RemoteTarget
from syncret.providers.values import FindQuery, RemoteKey, SecretBytes, SecretMap
from syncret.providers.work import Work

_READ: Final = "give the token's owner the permission to open the environment"
_WRITE: Final = "give the token's owner the permission to write the environment"

OPEN: Final = Endpoint("POST", "/{environment}/open", "opening environment {environment}", _READ)
READ: Final = Endpoint("GET", "/{environment}/open/{session}", "reading environment {environment}", _READ)
DEFINITION: Final = Endpoint(
    "GET", "/{environment}", "reading the definition of environment {environment}", _WRITE
)
UPDATE: Final = Endpoint("PATCH", "/{environment}", "changing environment {environment}", _WRITE)

_SESSION: Final = "2m"
"""How long an opened environment can be read; it is read at once."""

_YAML: Final = {"Accept": "application/x-yaml"}


class _Opened(msgspec.Struct):
    id: str


class _Environment(msgspec.Struct, rename="camel"):
    """An environment. Empty members are absent, except the context of the evaluation."""

    properties: dict[str, Json] | None = None
    exprs: Json = None
    schema: Json = None
    execution_context: Json = None

    def __post_init__(self) -> None:
        if self.properties is self.exprs is self.schema is self.execution_context is None:
            raise ValueError("this is no environment")


class _Entry(NamedTuple):
    value: Json
    text: bytes

    def inner(self, name: str) -> Path:
        """The path of a property in an object or a list; empty for a text, whose JSON has it."""
        has_members = is_object(self.value) or is_list(self.value)
        return paths.within(self.value, name) if name and has_members else ()


class PulumiClient(Unversioned, ComputingClient, TextValues, TextWrites[_Entry]):
    """Reads, finds, pushes, deletes and probes. One answer has the whole environment, as it is now."""

    def __init__(self, spec: PulumiSpec, api: Api, compute: Compute) -> None:
        super().__init__(api, compute)
        self._spec = spec

    # -- read
    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        """All in one: the environment is opened once, and read."""
        properties = await self._properties()

        def picked(work: Work) -> dict[RemoteKey, SecretBytes | SyncError]:
            found: dict[RemoteKey, SecretBytes | SyncError] = {}
            for key in keys:
                try:
                    value = _at(properties, paths.parsed(key.key), work)
                except Malformed as error:
                    found[key] = error
                    continue
                if not isinstance(value, Absent):
                    found[key] = SecretBytes(gojson.byte_value(value, work))
            return found

        return await self._compute(picked)

    async def _properties(self) -> dict[str, Json]:
        """The values of the environment as Pulumi has them, with everything that it imports and computes."""
        opened = await self._api.look_up(
            OPEN, params={"duration": _SESSION}, environment=self._spec.environment
        )
        if opened is None:
            raise self._no_environment()
        session = opened.decode(_Opened).id
        answer = await self._api.call(READ, environment=self._spec.environment, session=session)
        return answer.decode(_Environment).properties or {}

    def _no_environment(self) -> Malformed:
        spec = self._spec
        place = f"{spec.organization}/{spec.project}/{spec.environment}"
        hint = "check organization, project and environment, and whether the token may see it"
        return Malformed(f"environment {place} does not exist", hint=hint)

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap | None:
        """The members of the environment, or of the object at a path, whose names match."""
        if query.tags:
            raise Malformed("values in Pulumi ESC have no tags", hint="write find.name.regexp or find.path")
        matches, looked, found = regexp.matcher(query.name or "", work), Looked("listing values"), Matches()
        held: Json = await paced(self._properties)
        if query.path:
            held = _inner(_member(held, paths.parsed(query.path)))
        if not is_object(held):
            return None
        looked.at(list(held))
        for name, member in held.items():
            if matches(name):
                found.add_value(name, SecretBytes(gojson.byte_value(_plain(member, work), work)))
        return found.values

    # -- push
    async def entry(self, key: str) -> _Entry | None:
        path, properties = paths.parsed(key), await self._properties()

        def read(work: Work) -> _Entry | None:
            found = _at(properties, path, work)
            if isinstance(found, Absent) or found is None:
                return None
            return _Entry(found, gojson.byte_value(found, work))

        return await self._compute(read)

    def text(self, entry: _Entry) -> bytes:
        return entry.text

    async def store(self, item: PushItem, text: bytes, entry: _Entry | None) -> None:
        """Write a secret text. A property of an object or a list that is there is set in the definition."""
        from syncret.providers.pulumi import definition  # slow to import

        inner = () if entry is None else entry.inner(item.property)
        value = as_text(item.value.raw if inner else text, "push it in base64")
        if entry is not None and paths.at(entry.value, inner) == value:
            return
        path = (*paths.parsed(item.remote_key), *inner)
        await self._change(lambda text, work: definition.with_secret(text, path, value, work))

    async def delete(self, target: RemoteTarget) -> None:
        """Remove the value from the definition; with a property only what it leads to."""
        from syncret.providers.pulumi import definition  # slow to import

        held = await self.entry(target.remote_key) if target.property else None
        inner = () if held is None else held.inner(target.property)
        if target.property and not inner:
            await super().delete(target)
            return
        path = (*paths.parsed(target.remote_key), *inner)
        await self._change(lambda text, work: definition.without(text, path, work))

    async def exists(self, target: RemoteTarget) -> bool:
        held = await self.entry(target.remote_key) if target.property else None
        inner = () if held is None else held.inner(target.property)
        if held is None or not inner:
            return await super().exists(target)
        return not isinstance(paths.at(held.value, inner), Absent)

    async def remove(self, key: str) -> None:
        await self.delete(RemoteTarget(key))

    async def _change(self, edit: Callable[[bytes, Work], bytes | None]) -> None:
        """Change the values of the definition, unless another program changes them meanwhile.

        What the definition imports and computes stays; values that are encrypted stay so, unread.
        """
        from syncret.providers.kit.http import Body

        answer = await self._api.look_up(DEFINITION, headers=_YAML, environment=self._spec.environment)
        if answer is None:
            raise self._no_environment()
        text = answer.body
        changed = await self._compute(lambda work: edit(text, work))
        if changed is None:
            return
        tag = answer.headers.get("etag", "")
        await self._api.call(
            UPDATE,
            headers={"ETag": tag} if tag else {},  # where others have If-Match
            body=Body(changed, _YAML["Accept"]),
            environment=self._spec.environment,
        )

    # -- probe
    async def probe(self) -> Readiness:
        await self._properties()
        return "ready"


def _at(properties: Json, path: Path, work: Work) -> Json | Absent:
    """The value at a path. Raises Malformed if it, or what leads to it, is not known."""
    member = _member(properties, path)
    return member if isinstance(member, Absent) else _plain(member, work)


def _member(properties: Json, path: Path) -> Json | Absent:
    """What Pulumi has at a path: a value, and where it comes from."""
    found = paths.at(properties, path[:1])
    for part in path[1:]:
        found = paths.at(_inner(found), [part])
    return found


def _inner(member: Json | Absent) -> Json:
    """The value of a member, whose own members are still Pulumi's. Null has none. Raises Malformed."""
    if isinstance(member, Absent):
        return None
    if not is_object(member) or not ("value" in member or "trace" in member) or member.get("unknown"):
        raise Malformed(
            "reading the environment: a value is not known", hint="does `esc env open` show all values?"
        )
    return member.get("value")


def _plain(member: Json, work: Work) -> Json:
    """The value of a member, and of all members in it. Raises Malformed."""
    work.step()
    inner = _inner(member)
    if is_object(inner):
        return {name: _plain(each, work) for name, each in inner.items()}
    if is_list(inner):
        return [_plain(each, work) for each in inner]
    return inner
