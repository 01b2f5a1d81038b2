"""Reads of one store are shared and gathered; answers are kept while an object waits that may use them."""

import asyncio
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import msgspec
import pytest

from syncret.daemon.engine.sessions.reads import KeptAnswers, size_of
from syncret.providers.errors import Denied
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes
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


K = RemoteKey("k")
VALUE = SecretBytes(b"x" * 1000)
SIZE = size_of(VALUE)
assert SIZE is not None


class Waiting(dict[str, float]):
    """Since when the oldest object of each store waits."""

    def __call__(self, store: str, moment: float) -> bool:
        return self.get(store, inf) < moment


@pytest.fixture
def waiting() -> Waiting:
    return Waiting(s=1.0, t=1.0)


@pytest.fixture
def answers(waiting: Waiting) -> KeptAnswers:
    return KeptAnswers(waiting)


def test_an_answer_serves_requests_before_its_call_began(answers: KeptAnswers) -> None:
    client = answers.new_client()
    answers.keep("s", client, 5.0, {K: VALUE, RemoteKey("none"): None})
    answer = answers.get("s", client, K, 4.9)
    assert answer is not None
    assert answer.payload is VALUE
    nothing = answers.get("s", client, RemoteKey("none"), 4.9)
    assert nothing is not None
    assert nothing.payload is None, "that there is no such key is an answer, too"
    assert answers.get("s", client, K, 5.0) is None
    assert answers.get("s", client, RemoteKey("other"), 4.9) is None


def test_what_one_client_has_read_serves_no_other(answers: KeptAnswers) -> None:
    one, two = answers.new_client(), answers.new_client()
    answers.keep("s", one, 5.0, {K: VALUE})
    assert answers.get("s", two, K, 1.0) is None
    assert answers.get("t", one, K, 1.0) is None


def test_nothing_is_kept_that_no_waiting_object_could_use(answers: KeptAnswers, waiting: Waiting) -> None:
    waiting["s"] = 5.0
    answers.keep("s", 0, 5.0, {K: VALUE})
    answers.keep("nobody", 0, 5.0, {K: VALUE})
    assert len(answers) == answers.size == 0


def test_answers_go_once_no_object_can_use_them(answers: KeptAnswers, waiting: Waiting) -> None:
    for begin in (2.0, 3.0, 4.0):
        answers.keep("s", 0, begin, {RemoteKey(f"k{begin}"): VALUE})
    answers.keep("t", 0, 2.0, {K: VALUE})
    assert (len(answers), answers.size) == (4, 4 * (SIZE or 0))
    waiting["s"] = 3.0
    answers.trim(("s",))
    assert answers.get("s", 0, RemoteKey("k4.0"), 3.5) is not None
    assert len(answers) == 2
    waiting.clear()
    answers.trim(("s",))
    assert len(answers) == 1
    answers.trim(None)
    assert len(answers) == answers.size == 0


def test_a_newer_answer_takes_the_place_of_an_older_one(answers: KeptAnswers) -> None:
    answers.keep("s", 0, 2.0, {K: VALUE})
    answers.keep("s", 0, 3.0, {K: VALUE})
    assert answers.size == SIZE
    assert answers.get("s", 0, K, 2.5) is not None


def test_the_oldest_of_all_stores_go_when_memory_is_short(answers: KeptAnswers) -> None:
    answers.limit = 10 * (SIZE or 0)
    for number in range(10):
        answers.keep("st"[number % 2], 0, 2.0 + number, {RemoteKey(f"k{number}"): VALUE})
    assert len(answers) == 10
    answers.keep("s", 0, 20.0, {K: VALUE})
    assert answers.size <= answers.limit
    assert answers.get("s", 0, RemoteKey("k0"), 1.0) is answers.get("t", 0, RemoteKey("k1"), 1.0) is None
    assert answers.get("s", 0, RemoteKey("k8"), 1.0) is not None
    assert answers.get("s", 0, K, 1.0) is not None


def test_an_answer_larger_than_the_memory_is_not_kept(answers: KeptAnswers) -> None:
    answers.limit = 1000
    answers.keep("s", 0, 2.0, {K: VALUE})
    assert len(answers) == answers.size == 0


class Named(NamedTuple):
    text: str


class Structured(msgspec.Struct):
    text: str


@dataclass(frozen=True, slots=True)
class Slotted:
    text: str


class Plain:
    def __init__(self, text: str) -> None:
        self.text = text


TEXT = "x" * 5000


@pytest.mark.parametrize(
    "payload",
    [
        pytest.param(TEXT, id="text"),
        pytest.param(TEXT.encode(), id="bytes"),
        pytest.param(SecretBytes(TEXT.encode()), id="secret bytes"),
        pytest.param({"a": [{"b": TEXT}]}, id="JSON"),
        pytest.param({TEXT: None}, id="names of members"),
        pytest.param(Named(TEXT), id="named tuple"),
        pytest.param(Structured(TEXT), id="struct"),
        pytest.param(Slotted(TEXT), id="dataclass"),
        pytest.param(Plain(TEXT), id="any object"),
    ],
)
def test_the_size_of_an_answer_is_that_of_all_its_parts(payload: object) -> None:
    size = size_of(payload)
    assert size is not None
    assert 5000 < size < 6500


def test_an_answer_of_very_many_parts_is_not_measured() -> None:
    assert size_of(list(range(100_000))) is None
    endless: list[Any] = []
    endless.append(endless)
    assert size_of(endless) is None
