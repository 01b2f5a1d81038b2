"""Reads of one store are shared and gathered; two stores never share."""

import asyncio

import pytest

from syncret.providers.contract import RemoteRef, SecretBytes
from syncret.providers.errors import Denied
from tests.unit.daemon.engine.sessions.support import Make, read_one
from tests.unit.daemon.engine.support import Manager, Recorder, store


async def test_a_hundred_readers_of_one_key_are_one_call(
    make: Make, manager: Manager, recorder: Recorder
) -> None:
    session = (await make()).session(store(), "default")
    answers = await asyncio.gather(*(read_one(session, "a") for _ in range(100)))
    assert answers == [b"1"] * 100
    assert manager.fetches == [("a",)]
    assert len(manager.opened) == 1
    assert recorder.joined == 99


async def test_properties_of_one_key_are_one_call(make: Make, manager: Manager) -> None:
    session = (await make()).session(store(), "default")
    refs = [RemoteRef("json", name) for name in ("user", "pass", "none")]
    (values, maps) = await asyncio.gather(session.read(refs), session.extract([RemoteRef("json")]))
    assert list(values.values()) == [SecretBytes(b"x"), SecretBytes(b"y"), None]
    assert maps == {RemoteRef("json"): {"user": SecretBytes(b"x"), "pass": SecretBytes(b"y")}}
    assert manager.fetches == [("json",)]


async def test_nothing_is_kept_once_a_call_is_over(make: Make, manager: Manager) -> None:
    session = (await make()).session(store(), "default")
    await read_one(session, "a")
    manager.values["a"] = "new"
    assert await read_one(session, "a") == b"new"
    assert len(manager.fetches) == 2


async def test_versions_are_different_keys(make: Make, manager: Manager) -> None:
    session = (await make()).session(store(), "default")
    await session.read([RemoteRef("a", version="1"), RemoteRef("a", version="2")])
    assert len(manager.fetches) == 2


async def test_two_stores_never_share(make: Make, manager: Manager) -> None:
    sessions = await make()
    one, two = sessions.session(store("one"), "default"), sessions.session(store("two"), "default")
    await asyncio.gather(read_one(one, "a"), read_one(two, "a"))
    assert manager.fetches == [("a",), ("a",)]
    assert len(manager.opened) == 2


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        pytest.param(1, [1, 1, 1, 1, 1], id="no batch API"),
        pytest.param(2, [2, 2, 1], id="pairs"),
        pytest.param(20, [5], id="all at once"),
    ],
)
async def test_keys_are_gathered_up_to_the_batch_size(
    make: Make, manager: Manager, size: int, expected: list[int]
) -> None:
    session = (await make(batch_size=size)).session(store(), "default")
    await session.read([RemoteRef(key) for key in "abcde"])
    assert [len(keys) for keys in manager.fetches] == expected


async def test_the_window_gathers_what_is_asked_within_it(make: Make, manager: Manager) -> None:
    session = (await make(batch_size=10, batch_window=0.005)).session(store(), "default")

    async def later(key: str, delay: float) -> None:
        await asyncio.sleep(delay)
        await read_one(session, key)

    await asyncio.gather(later("a", 0), later("b", 0.004), later("c", 0.006))
    assert manager.fetches == [("a", "b"), ("c",)]


async def test_a_full_batch_does_not_wait_for_the_window(make: Make, manager: Manager) -> None:
    session = (await make(batch_size=2, batch_window=3600)).session(store(), "default")
    await session.read([RemoteRef("a"), RemoteRef("b")])
    assert asyncio.get_running_loop().time() < 1


async def test_errors_of_a_batch_stay_with_their_keys(make: Make, manager: Manager) -> None:
    manager.key_errors["b"] = Denied("not yours")
    session = (await make(batch_size=10)).session(store(), "default")
    answers = await session.read([RemoteRef(key) for key in ("a", "b", "missing")])
    assert answers == {
        RemoteRef("a"): SecretBytes(b"1"),
        RemoteRef("b"): manager.key_errors["b"],
        RemoteRef("missing"): None,
    }


async def test_a_failure_of_the_whole_call_stands_at_each_key(make: Make, manager: Manager) -> None:
    manager.errors.append(Denied("no"))
    session = (await make(batch_size=10)).session(store(), "default")
    answers = await session.read([RemoteRef("a"), RemoteRef("b")])
    assert [type(answer) for answer in answers.values()] == [Denied, Denied]


async def test_a_bug_of_a_provider_surfaces(make: Make, manager: Manager) -> None:
    session = (await make()).session(store(), "default")
    manager.values["broken"] = "{"
    with pytest.raises(ValueError, match="Expecting"):
        await session.extract([RemoteRef("broken")])


async def test_a_bug_of_a_call_surfaces_at_everyone_who_waits(make: Make, manager: Manager) -> None:
    manager.errors.append(ZeroDivisionError())
    session = (await make()).session(store(), "default")
    results = await asyncio.gather(*(read_one(session, "a") for _ in range(3)), return_exceptions=True)
    assert {type(result) for result in results} == {ZeroDivisionError}
