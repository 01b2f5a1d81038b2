"""Decides when the folders of manifests are scanned: on events, and on a timer because events get lost.

The kernel's events miss files that appear in a folder created a moment ago, and do not cover network file
systems; and the kernel may have no more watches to give. So everything is scanned every `rescan` seconds,
which costs one `stat` for each file.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing

from syncret.daemon.files.syscalls import FolderIdentity, folder_identity

_APART = 4
_TICK = 1.0  # how often a path that was replaced, or is missing, is looked for


async def folder_events(
    paths: Sequence[str], *, rescan: float, debounce: float = 0.1
) -> AsyncGenerator[Collection[str], None]:
    """Yield whenever it is time to look, with the files that are known to have changed.

    Events are gathered until no other file changed for `debounce` seconds, at most ten times as long, and
    looks that events ask for begin at least four times as long apart: a file that changes all the time makes
    two looks a second. The first comes as soon as the watch stands, for what changed before it did.
    """
    last_look = -rescan
    reported = ""

    def blind(error: OSError) -> None:
        nonlocal reported
        reason = error.strerror or str(error)
        if isinstance(error, FileNotFoundError) or reason == reported:  # gone at this very moment
            return
        reported = reason
        import structlog  # slow to import, and seldom needed

        structlog.get_logger().warning(
            "the kernel does not report changes of manifests; they are looked for instead",
            every=rescan,
            reason=reason,
            hint="raise fs.inotify.max_user_watches and fs.inotify.max_user_instances (sysctl)",
        )

    while True:
        before = await _identities(paths)
        present = [path for path, identity in before.items() if identity is not None]
        fresh = True
        async with aclosing(_events(present, debounce, rescan, blind)) as events:
            async for touched in events:
                replaced = await _identities(paths) != before
                if touched or replaced or fresh or time.monotonic() - last_look >= rescan:
                    fresh, last_look = False, time.monotonic()
                    yield touched
                    if touched:
                        await asyncio.sleep(max(0.0, last_look + _APART * debounce - time.monotonic()))
                if replaced:  # the watch is on the former folder, not on its name
                    break


async def _events(
    paths: Sequence[str], debounce: float, rescan: float, blind: Callable[[OSError], None]
) -> AsyncGenerator[Collection[str], None]:
    """Changed files, or nothing at each tick; where no events can be had, ticks until the next rescan."""
    # Slow to import, and one pass does not watch. Its signature names trio, which is not here.
    from watchfiles import awatch  # pyright: ignore[reportUnknownVariableType]

    step = max(1, round(debounce * 1000))
    try:
        async with aclosing(
            awatch(
                *paths,
                watch_filter=None,
                step=step,
                debounce=10 * step,
                rust_timeout=round(_TICK * 1000),
                yield_on_timeout=True,
                ignore_permission_denied=True,
            )
        ) as changes:
            async for batch in changes:
                yield {path for _, path in batch}
    except OSError as error:
        blind(error)
    for _ in range(max(1, round(rescan / _TICK))):
        await asyncio.sleep(_TICK)
        yield set()


async def _identities(paths: Sequence[str]) -> dict[str, FolderIdentity | None]:
    """The identity of the folder at each path; read in a thread, because a network file system may hang."""
    return await asyncio.to_thread(lambda: {path: _identity(path) for path in paths})


def _identity(path: str) -> FolderIdentity | None:
    try:
        return folder_identity(path)
    except OSError:
        return None
