"""The `workers`: so many runs go on at once, each with a worker. A run that waits for a provider has none."""

import asyncio
from collections import deque


class Workers:
    """A number of workers. A run that comes back from a wait is served before one that is to be started."""

    def __init__(self, count: int) -> None:
        self._free = count
        self._returning: deque[asyncio.Future[None]] = deque()

    @property
    def has_free(self) -> bool:
        """Whether a run may be started."""
        return self._free > 0

    def take(self) -> None:
        """Take a worker for a run that is started; one must be free."""
        self._free -= 1

    def give_back(self) -> None:
        """Hand a worker to the run that has been waiting longest to go on; without such a run it is free."""
        while self._returning:
            future = self._returning.popleft()
            if not future.done():
                future.set_result(None)
                return
        self._free += 1

    async def regain(self) -> None:
        """Take a worker for a run that goes on."""
        if self._free:
            self._free -= 1
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._returning.append(future)
        try:
            await future
        except asyncio.CancelledError:
            if not future.cancelled():
                self.give_back()
            raise

    def __repr__(self) -> str:
        return f"<Workers free={self._free} returning={len(self._returning)}>"
