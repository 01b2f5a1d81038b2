"""One side: an API server with whoever acts on its objects, and what stands there."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import convert

from syncret.config.meta import Document, GroupKind
from syncret.daemon.homes.contract import HomeError
from syncret.daemon.homes.kubernetes.home import KubernetesHome
from syncret.daemon.simulate.scenario import ObjectName, Patch
from tests.real.differential.comparing import Snapshot
from tests.real.differential.scenarios import Scenario
from tests.support.servers.kube.authors import Author
from tests.support.servers.kube.running import KubeApi

AT_ONCE: Final = 16
_GROUP: Final = "external-secrets.io"
KINDS: Final = (
    *(GroupKind("", kind) for kind in ("Secret", "ConfigMap", "Namespace", "Event")),
    *(GroupKind(_GROUP, kind) for kind in ("ExternalSecret", "PushSecret", "SecretStore")),
    *(GroupKind(_GROUP, f"Cluster{kind}") for kind in ("ExternalSecret", "PushSecret", "SecretStore")),
    GroupKind("generators.external-secrets.io", "GeneratorState"),
)


class Side:
    """Takes the commands, and shows what came of them."""

    def __init__(self, home: KubernetesHome, api: KubeApi) -> None:
        self._author = Author(home, api)
        self._room = asyncio.Semaphore(AT_ONCE)

    async def step(self, played: Iterable[Scenario], place: int) -> Mapping[str, Sequence[str]]:
        """Make all commands of a step; the commands that were refused, by scenario."""
        active = [each for each in played if len(each.steps) > place]
        refused = await asyncio.gather(*(self._commands(each.steps[place]) for each in active))
        return {each.id: texts for each, texts in zip(active, refused, strict=True)}

    async def _commands(self, step: Document) -> Sequence[str]:
        refused: list[str] = []
        async with self._room:
            for document in step["apply"]:
                try:
                    await self._author.apply(document)
                except HomeError as error:
                    refused.append(f"{document['kind']}: {error.reason}")
            for patch in (convert(each, Patch) for each in step["patch"]):
                try:
                    await self._author.patch(patch.ref, patch.merge)
                except HomeError as error:
                    refused.append(f"{patch.kind}: {error.reason}")
            for gone in (convert(each, ObjectName) for each in step["delete"]):
                try:
                    await self._author.remove(gone.ref)
                except HomeError as error:
                    refused.append(f"{gone.kind}: {error.reason}")
        return refused

    async def look(self) -> Snapshot:
        """Everything that is there, once what lost its owner is collected."""
        objects = await self._author.list(KINDS)
        collected = {each.uid for each in await self._author.collect(objects)}
        return Snapshot([stored for stored in objects if stored.uid not in collected])
