"""What one run draws from generators: recorded before a value is used, given back unless the run keeps it."""

import secrets
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from syncret.config.meta import ObjectRef
from syncret.config.resources.base import Resource
from syncret.config.resources.external_secret import GeneratorRef
from syncret.config.resources.generators import GeneratorState
from syncret.daemon.backends.contract import BackendError, Conflict, NotFound
from syncret.daemon.core import leases
from syncret.daemon.core.timestamps import stamp
from syncret.daemon.engine.reconcilers.draw import Drawn, clean_up, draw
from syncret.daemon.engine.reconcilers.world import World
from syncret.providers.contract import SecretMap
from syncret.providers.errors import Unavailable

_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
"""As an API server makes up names: no vowels, so that no word comes of it."""


class Leases:
    """The draws of one run of one resource. Leaving the block without `keep` gives all of them back.

    A record stands from the moment the generator has answered: after a crash the next run finds it, and once
    that has drawn anew it is cleaned up like any other.
    """

    def __init__(self, world: World, owner: Resource) -> None:
        self._world = world
        self._owner = owner
        self._drawn: dict[str, ObjectRef] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while self._drawn:
            _, ref = self._drawn.popitem()
            with suppress(NotFound):
                await self._world.target.delete(ref)  # the record's own run cleans up, as often as it takes

    async def draw(self, place: str, generator: GeneratorRef) -> SecretMap:
        """New values for an entry of the resource. Raises SyncError."""
        drawn = await draw(self._world, generator, self._owner.metadata.namespace)
        if drawn.generated.state is not None:
            await self._record(place, drawn, drawn.generated.state)
        return drawn.generated.values

    async def keep(self) -> None:
        """The values are in use: give up the former ones of each entry, after the grace period."""
        drawn = {place: ref.name for place, ref in self._drawn.items()}
        self._drawn.clear()
        known = self._world.inventory.list(leases.KIND, self._owner.metadata.namespace)
        states = [stored.as_type(GeneratorState) for stored in known]
        if not states:
            return
        deadline = stamp(self._world.clock.now() + self._world.options.generator_grace)
        for state in list(leases.superseded(states, self._owner, drawn)):
            with suppress(Conflict, NotFound):  # changed or gone since: the next refresh looks again
                await self._give_up(state.ref, deadline)

    async def _give_up(self, ref: ObjectRef, deadline: str) -> None:
        stored = await self._world.target.get(ref)
        if stored is not None:
            document = stored.document
            document["spec"]["garbageCollectionDeadline"] = deadline
            await self._world.target.update(document)

    async def _record(self, place: str, drawn: Drawn, state: dict[str, object]) -> None:
        suffix = "".join(secrets.choice(_ALPHABET) for _ in range(5))
        document = leases.record(self._owner, place, drawn.resource, state, suffix=suffix)
        try:
            stored = await self._world.target.create(document)
        except BackendError as error:
            await clean_up(self._world, drawn.resource, state)  # what nobody remembers must not be left
            raise Unavailable(f"cannot record what a generator made: {error.reason}") from error
        self._drawn[place] = stored.ref
