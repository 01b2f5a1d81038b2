"""Which resources the API server serves: the version and the path of each kind, asked once and kept."""

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from syncret.config.catalog import Catalog
from syncret.config.meta import Document, GroupKind, ObjectRef
from syncret.config.resources.kinds import Kinds
from syncret.daemon.homes.contract import NotFound
from syncret.daemon.homes.kubernetes.api import ApiServer
from syncret.providers.kit.http import Answer
from syncret.providers.kit.kube.client import path_of

PAGE: Final = "500"
"""Objects of one answer."""

KNOWN_FOR: Final = 30.0
"""Seconds after which the server is asked again for a kind that it did not serve."""


class Resource(Struct, frozen=True):
    """One kind as the server has it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    has_status: bool
    """Whether the status is written by requests of its own."""

    @property
    def group_kind(self) -> GroupKind:
        return GroupKind(self.group, self.kind)

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "", name: str = "") -> str:
        """The path of the collection, or of one object."""
        within = namespace if self.namespaced else ""
        return path_of(self.group, self.version, self.plural, namespace=within, name=name)

    def path_to(self, ref: ObjectRef) -> str:
        """The path of an object."""
        return self.path(ref.namespace, ref.name)


class _Listed(Struct):
    name: str
    kind: str = ""
    namespaced: bool = False
    verbs: list[str] | None = None


class _ResourceList(Struct):
    resources: list[_Listed] | None = None


class _Version(Struct):
    version: str


class _Group(Struct, rename="camel"):
    name: str = ""
    versions: list[_Version] | None = None
    preferred_version: _Version | None = None


class _GroupList(Struct):
    groups: list[_Group] | None = None


class Resources:
    """Finds resources by kind. Of a kind that we have a model for, the version of the model."""

    def __init__(self, api: ApiServer, catalog: Catalog) -> None:
        self._api = api
        self._kinds = Kinds(catalog)
        self._served: dict[tuple[str, str], tuple[float, dict[str, Resource]]] = {}
        """By group and version: when it was asked for, and what there was."""
        self._preferred: dict[str, tuple[float, Sequence[str]]] = {}
        self._asking: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        """By group: kinds that are looked for at the same time are asked for once."""

    async def find(self, kind: GroupKind, version: str = "") -> Resource | None:
        """The resource of a kind; None while the server does not have it. Raises HomeError."""
        for each in (version,) if version else await self._versions(kind):
            found = (await self._of(kind.group, each, kind.kind)).get(kind.kind)
            if found is not None:
                return found
        return None

    async def watchable(self, groups: Collection[str]) -> Sequence[GroupKind]:
        """The namespaced kinds of these groups that can be watched now. Raises HomeError."""
        answer = await self._api.read("/apis", doing="asking for the groups of the API")
        served = () if answer is None else answer.decode(_GroupList).groups or ()
        found: list[GroupKind] = []
        for group in served:
            if group.name not in groups or group.preferred_version is None:
                continue
            path = f"/apis/{group.name}/{group.preferred_version.version}"
            answer = await self._asked(path, f"asking for the resources of {group.name}", group.name)
            listed = () if answer is None else answer.decode(_ResourceList).resources or ()
            found += [
                GroupKind(group.name, each.kind)
                for each in listed
                if "/" not in each.name and each.namespaced and "watch" in (each.verbs or ())
            ]
        return found

    def forget(self, kind: GroupKind) -> None:
        """Ask again for what the server has of that group: it no longer has this kind."""
        for group, version in [each for each in self._served if each[0] == kind.group]:
            del self._served[group, version]
        self._preferred.pop(kind.group, None)

    async def _versions(self, kind: GroupKind) -> Sequence[str]:
        known = self._kinds.find(kind)
        if known is not None:
            return known.versions
        if not kind.group:
            return ("v1",)
        async with self._asking[kind.group]:
            asked, versions = self._preferred.get(kind.group, (0.0, ()))
            if not versions and time.monotonic() - asked >= KNOWN_FOR:
                versions = await self._ask_versions(kind)
        return versions

    async def _ask_versions(self, kind: GroupKind) -> Sequence[str]:
        answer = await self._asked(f"/apis/{kind.group}", f"asking for {kind.group}", kind.group)
        group = _Group() if answer is None else answer.decode(_Group)
        every = [] if group.preferred_version is None else [group.preferred_version]
        versions = tuple(dict.fromkeys(each.version for each in [*every, *(group.versions or ())]))
        self._preferred[kind.group] = time.monotonic(), versions
        return versions

    async def _of(self, group: str, version: str, kind: str) -> dict[str, Resource]:
        known = self._known(group, version, kind)
        if known is None:
            async with self._asking[group]:
                known = self._known(group, version, kind)
                if known is None:
                    known = await self._ask(group, version)
        return known

    def _known(self, group: str, version: str, kind: str) -> dict[str, Resource] | None:
        served = self._served.get((group, version))
        if served is not None and (kind in served[1] or time.monotonic() - served[0] < KNOWN_FOR):
            return served[1]
        return None

    async def _ask(self, group: str, version: str) -> dict[str, Resource]:
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        doing = f"asking for the resources of {group or 'core'}/{version}"
        answer = await self._asked(path, doing, group, version)
        listed = () if answer is None else answer.decode(_ResourceList).resources or ()
        names = {each.name for each in listed}
        found = {
            each.kind: Resource(
                group, version, each.kind, each.name, each.namespaced, f"{each.name}/status" in names
            )
            for each in listed
            if "/" not in each.name
        }
        self._served[group, version] = time.monotonic(), found
        self._api.stats.kinds |= {each.plural: each.kind for each in found.values()}
        return found

    async def _asked(self, path: str, doing: str, group: str, version: str = "") -> Answer | None:
        """The answer; None if the server does not have the group or version.

        It says so in plain text, as anything in front of it might: only its list of groups can be believed.
        """
        try:
            return await self._api.read(path, doing=doing)
        except NotFound:
            if not group or await self._serves(group, version):
                raise
            return None

    async def _serves(self, group: str, version: str) -> bool:
        answer = await self._api.read("/apis", doing="asking for the groups of the API")
        groups = () if answer is None else answer.decode(_GroupList).groups or ()
        found = [each.version for of in groups if of.name == group for each in of.versions or ()]
        return version in found if version else bool(found)


async def listed(
    api: ApiServer, path: str, *, doing: str, params: Mapping[str, str]
) -> AsyncGenerator[Document, None]:
    """The objects of a consistent list, which is read in pages. Raises HomeError."""
    asked = {"limit": PAGE, **params}
    while True:
        answer = await api.read(path, doing=doing, params=asked)
        page: Document = {} if answer is None else answer.decode(Document)
        for each in page.get("items") or ():
            yield each
        token = page.get("metadata", {}).get("continue")
        if not token:
            return
        asked["continue"] = token
