"""Keys that are asked for one by one: what is one key's own failure, and what is everybody's."""

import pytest

from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.kit.batching import read_each


@pytest.mark.parametrize("failure", [Denied("no"), Malformed("no")])
async def test_a_refusal_is_that_of_its_key(failure: SyncError) -> None:
    async def read(key: str) -> bytes | None:
        if key == "refused":
            raise failure
        return b"value" if key == "there" else None

    assert await read_each(["refused", "absent", "there"], read) == {"refused": failure, "there": b"value"}


@pytest.mark.parametrize("failure", [Unavailable("silence"), Throttled("slower")])
async def test_no_answer_ends_the_call(failure: SyncError) -> None:
    asked: list[str] = []

    async def read(key: str) -> bytes | None:
        asked.append(key)
        raise failure

    with pytest.raises(type(failure)):
        await read_each(["first", "second"], read)
    assert asked == ["first"]
