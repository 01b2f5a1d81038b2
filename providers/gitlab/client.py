"""The client of a GitLab store: the endpoints, and what it does with them.

https://docs.gitlab.com/api/project_level_variables
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any, Final, Literal

import msgspec

from syncret.config.fields import Model
from syncret.providers.contract import Compute, Paced, Readiness
from syncret.providers.errors import Malformed, SyncError
from syncret.providers.gitlab.scopes import ANY, Level, Search, Variable, is_any, of_level
from syncret.providers.gitlab.spec import GitlabSpec
from syncret.providers.kit.batching import read_each, unpaced
from syncret.providers.kit.golang import regexp
from syncret.providers.kit.paging import Matches, Page, pages
from syncret.providers.kit.push_options import decode_spec
from syncret.providers.kit.references import as_text
from syncret.providers.kit.rest.api import Api
from syncret.providers.kit.rest.clients import ComputingClient
from syncret.providers.kit.rest.endpoints import Endpoint
from syncret.providers.kit.rest.texts import TextValues, TextWrites
from syncret.providers.pushes import PushItem
from syncret.providers.values import FindQuery, RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_GRANT: Final = "give the token the role Maintainer (of a group: Owner), and the scope read_api; to push, api"
_VARIABLES: Final = "/api/v4/{kind}/{id}/variables"

LIST: Final = Endpoint("GET", _VARIABLES, "listing variables", _GRANT)
READ: Final = Endpoint("GET", f"{_VARIABLES}/{{key}}", "reading variable {key}", _GRANT)
CREATE: Final = Endpoint("POST", _VARIABLES, "creating variable {name}", _GRANT)
UPDATE: Final = Endpoint("PUT", f"{_VARIABLES}/{{key}}", "changing variable {key}", _GRANT)
DELETE: Final = Endpoint("DELETE", f"{_VARIABLES}/{{key}}", "deleting variable {key}", _GRANT)
GROUPS: Final = Endpoint("GET", "/api/v4/projects/{id}/groups", "listing the project's groups", _GRANT)

_PAGE: Final = 100
_MANY: Final = _PAGE // 5
"""From so many keys on, lists are read instead: one page has no more than five times as many."""

_KEPT: Final = (HTTPStatus.NOT_MODIFIED,)

_GROUPS_KEPT: Final = 300.0
"""Seconds for which the groups above a project are taken to stay the same."""


class PushSpec(Model, forbid_unknown_fields=True):
    """The metadata of a PushSecret for GitLab."""

    variable_type: Literal["env_var", "file"] | None = None
    protected: bool | None = None
    masked: bool | None = None

    def fields(self) -> dict[str, Any]:
        """The members of a variable that are written."""
        given = {"variable_type": self.variable_type, "protected": self.protected, "masked": self.masked}
        return {name: value for name, value in given.items() if value is not None}


class _Group(msgspec.Struct):
    id: int
    full_path: str = ""


class GitlabClient(ComputingClient, TextValues, TextWrites[Variable]):
    """Reads, finds, pushes, deletes and probes. As GitLab names variables, `-` in a key is `_`."""

    def __init__(self, spec: GitlabSpec, api: Api, compute: Compute, now: Callable[[], float]) -> None:
        super().__init__(api, compute)
        from syncret.providers.kit.rest.unchanged import Unchanged  # imports TLS

        self._now = now
        self._unchanged = Unchanged()
        self._environment = spec.environment
        self._project = Level("projects", spec.project_id) if spec.project_id else None
        self._groups = [Level("groups", each) for each in spec.group_ids]
        self._inherits = spec.inherit_from_groups
        self._groups_until = 0.0

    # -- read: the project first, then the groups from the last one on
    def remote_key(self, ref: RemoteRef) -> RemoteKey:
        """Variables have one version, and no metadata."""
        return RemoteKey(_name(ref.key))

    async def fetch(self, keys: Sequence[RemoteKey]) -> Mapping[RemoteKey, SecretBytes | SyncError]:
        levels = self._nearest_first(await self._groups_above(unpaced))
        listed: dict[Level, list[Variable]] | None = None
        if len(keys) >= _MANY:
            names = {key.key for key in keys}
            listed = {level: await self._list(level, unpaced, names.__contains__) for level in levels}

        async def read(key: RemoteKey) -> SecretBytes | None:
            empty = False
            for level in levels:
                if listed is None:
                    found = await self._read(level, key.key)
                else:
                    found = of_level(listed[level], key.key, self._environment)
                if found is not None and found.value:
                    return SecretBytes(found.value.encode())
                empty = empty or found is not None
            if empty:
                raise Malformed(
                    f"invalid secret received. no secret string for key: {key.key}",
                    hint="the variable is empty, or hidden: only jobs can read that",
                )
            return None

        return await read_each(keys, read)

    async def _read(self, level: Level, key: str) -> Variable | None:
        """The variable of one level; if it is not in the environment, that of all environments."""
        scopes = [self._environment] if is_any(self._environment) else [self._environment, ANY]
        for scope in scopes:
            found = await self._read_scope(level, key, scope)
            if found is not None:
                return found
        return None

    async def _read_scope(self, level: Level, key: str, scope: str | None) -> Variable | None:
        params, place = _scoped(scope), {**level._asdict(), "key": key}
        call = partial(self._api.look_up, READ, params=params, accept=_KEPT, **place)
        answer = await self._unchanged.get(f"{place} {params}", lambda headers: call(headers=headers))
        return None if answer is None else answer.decode(Variable)

    # -- find
    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        """Variables whose keys match, of the groups in order and then of the project."""
        if query.path is not None:
            raise Malformed("variables in GitLab have no path", hint="write find.name.regexp")
        if query.name is None:
            raise Malformed("variables in GitLab are found by name", hint="write find.name.regexp")
        matches = regexp.matcher(query.name, work)
        search = Search(self._searched(query.tags or ()))
        for group in await self._groups_above(paced):
            search.add_group(await self._list(group, paced, matches))
        if self._project is not None:
            search.add_project(await self._list(self._project, paced, matches))
        found = Matches()
        for key, value in search.values.items():
            found.add_value(key, SecretBytes(value.encode()))
        return found.values

    def _searched(self, tags: Sequence[tuple[str, str]]) -> str | None:
        """The environment of a search: the store's, or the one tag there may be."""
        if any(name != "environment_scope" for name, _ in tags):
            raise Malformed(
                "'find.tags' only supports 'environment_scope'", hint="variables in GitLab have no other tags"
            )
        if not tags:
            return self._environment
        if not is_any(self._environment) and not is_any(tags[0][1]):
            raise Malformed(
                "'find.tags' is constrained by 'environment' of the store", hint="write it in one place only"
            )
        return tags[0][1]

    async def _list(self, level: Level, paced: Paced, wanted: Callable[[str], bool]) -> list[Variable]:
        async def page(token: str) -> Page[Variable]:
            call = partial(self._api.call, LIST, params=_page(token), accept=_KEPT, **level._asdict())
            answer = await self._unchanged.get(f"{level} {token}", lambda headers: call(headers=headers))
            return Page(answer.decode(list[Variable]), answer.headers.get("x-next-page", ""))

        listed = pages(page, paced, doing="listing variables")
        return [variable async for variable in listed if wanted(variable.key)]

    def _nearest_first(self, groups: Sequence[Level]) -> list[Level]:
        return [*([self._project] if self._project else []), *reversed(groups)]

    async def _groups_above(self, paced: Paced) -> Sequence[Level]:
        """The groups of the store, or those above the project: the outermost first."""
        project = self._project
        if not self._inherits or project is None or self._now() < self._groups_until:
            return self._groups

        async def page(token: str) -> Page[_Group]:
            answer = await self._api.call(GROUPS, params=_page(token), id=project.id)
            return Page(answer.decode(list[_Group]), answer.headers.get("x-next-page", ""))

        found = [group async for group in pages(page, paced, doing="listing the project's groups")]
        found.sort(key=lambda group: len(group.full_path))
        self._groups = [Level("groups", str(group.id)) for group in found]
        self._groups_until = self._now() + _GROUPS_KEPT
        return self._groups

    # -- push: to the project, or to the one group, in the store's environment
    async def entry(self, key: str) -> Variable | None:
        return await self._read_scope(self._home(), _name(key), self._environment or ANY)

    def text(self, entry: Variable) -> bytes:
        return (entry.value or "").encode()

    def is_stale(self, entry: Variable, item: PushItem) -> bool:
        return any(getattr(entry, name) != value for name, value in _options(item).items())

    async def store(self, item: PushItem, text: bytes, entry: Variable | None) -> None:
        level, name = self._home()._asdict(), _name(item.remote_key)
        scope = self._environment or ANY
        # `raw`: a `$` in the value is no reference to another variable
        body = {**_options(item), "value": as_text(text, "push it in base64"), "raw": True}
        if entry is None:
            body |= {"key": name, "environment_scope": scope}
            await self._api.call(CREATE, body=body, **level, name=name)
        else:
            await self._api.call(UPDATE, params=_scoped(scope), body=body, **level, key=name)

    async def remove(self, key: str) -> None:
        params = _scoped(self._environment or ANY)
        await self._api.look_up(DELETE, params=params, **self._home()._asdict(), key=_name(key))

    def _home(self) -> Level:
        if self._project is not None:
            return self._project
        if len(self._groups) == 1:
            return self._groups[0]
        raise Malformed("the store has several groups to push to", hint="write projectID, or one of groupIDs")

    # -- probe
    async def probe(self) -> Readiness:
        for level in self._nearest_first(await self._groups_above(unpaced)):
            await self._api.call(LIST, params={"per_page": "1"}, **level._asdict())
        return "ready"


def _name(key: str) -> str:
    return key.replace("-", "_")


def _scoped(scope: str | None) -> dict[str, str]:
    return {"filter[environment_scope]": scope} if scope else {}


def _page(token: str) -> dict[str, str]:
    return {"per_page": str(_PAGE), "page": token or "1"}


def _options(item: PushItem) -> dict[str, Any]:
    return (decode_spec(item.metadata, PushSpec) or PushSpec()).fields()
