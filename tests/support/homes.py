"""What a test does to any home."""

from syncret.config.meta import ObjectRef
from syncret.daemon.homes.contract import Home, NotFound, StoredObject


async def delete_by_name(home: Home, ref: ObjectRef, *, uid: str = "") -> StoredObject | None:
    """Delete whatever version there is, as a user does."""
    seen = await home.get(ref)
    if seen is None or (uid and seen.uid != uid):
        raise NotFound(f"{ref} not found")
    return await home.delete(seen)
