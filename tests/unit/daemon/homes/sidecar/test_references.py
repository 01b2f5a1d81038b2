"""What is referred to is looked at again and again, and not more of it than a bound."""

import asyncio

from syncret.config.meta import ObjectRef
from syncret.config.resources.kinds import SECRET
from syncret.daemon.homes.contract import StoredObject
from syncret.daemon.homes.memory.cluster import MemoryCluster
from syncret.daemon.homes.sidecar.references import MOST, References

EVERY = 10.0


class Asked(MemoryCluster):
    """Notes which objects are asked for."""

    def __init__(self) -> None:
        super().__init__(now=lambda: 0.0)
        self.refs: list[ObjectRef] = []

    async def get(self, ref: ObjectRef) -> StoredObject | None:
        self.refs.append(ref)
        return await super().get(ref)


async def test_of_many_references_those_that_were_read_last_are_looked_at() -> None:
    home = Asked()
    references = References(home, lambda _type, _stored: None, every=EVERY)
    every = [SECRET.ref("shop", f"secret-{number}") for number in range(MOST + 5)]
    for ref in [*every, every[5]]:
        await references.read(ref)
    home.refs.clear()
    looking = asyncio.create_task(references.run(), name="references")
    await asyncio.sleep(1.5 * EVERY)
    looking.cancel()
    assert sorted(home.refs) == sorted(every[5:])
