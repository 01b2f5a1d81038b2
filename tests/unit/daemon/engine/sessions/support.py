"""What tests of sessions ask them."""

from collections.abc import Awaitable, Callable

from syncret.daemon.engine.sessions.pool import SessionPool
from syncret.daemon.engine.sessions.session import Session
from syncret.providers.errors import SyncError
from syncret.providers.pushes import PushItem
from syncret.providers.values import RemoteRef, SecretBytes

Make = Callable[..., Awaitable[SessionPool]]


def item(key: str, value: str = "v") -> PushItem:
    return PushItem(remote_key=key, property="", value=SecretBytes(value.encode()))


async def read_one(session: Session, key: str) -> bytes | SyncError | None:
    [answer] = (await session.read([RemoteRef(key)])).values()
    return answer.raw if isinstance(answer, SecretBytes) else answer
