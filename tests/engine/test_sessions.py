import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from syncret.config.catalog import SpecType
from syncret.config.fields import Json
from syncret.config.meta import ObjectRef
from syncret.daemon.backends.contract import Change, ChangeKind
from syncret.daemon.backends.memory.cluster import MemoryCluster
from syncret.daemon.engine.clock import Clock
from syncret.daemon.engine.observer import Faults, Operation
from syncret.daemon.engine.session import Session
from syncret.daemon.engine.sessions import Sessions
from syncret.providers.contract import (
    FindQuery,
    Provider,
    PushItem,
    RemoteRef,
    RemoteTarget,
    SecretBytes,
)
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from tests.engine.support import (
    START,
    Manager,
    ManagerSpec,
    OneProvider,
    Recorder,
    manifest,
    settings,
    store,
)


@pytest.fixture
async def manager() -> Manager:
    return Manager({"a": "1", "b": "2", "json": '{"user": "x", "pass": "y"}'})


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def home() -> MemoryCluster:
    return MemoryCluster(now=lambda: START)


Make = Callable[..., Awaitable[Sessions]]


@pytest.fixture
async def make(
    manager: Manager, recorder: Recorder, home: MemoryCluster, clock: Clock
) -> AsyncIterator[Make]:
    made: list[Sessions] = []

    async def build(*, batch_size: int = 1, faults: Faults | None = None, **changes: Json) -> Sessions:
        registry = OneProvider(manager.provider(batch_size=batch_size))
        sessions = Sessions(
            registry, home, settings(**changes), clock=clock, observer=recorder, faults=faults
        )
        made.append(await sessions.__aenter__())
        return sessions

    yield build
    for sessions in made:
        await sessions.__aexit__(None, None, None)


def item(key: str, value: str = "v") -> PushItem:
    return PushItem(remote_key=key, property="", value=SecretBytes(value.encode()))


async def read_one(session: Session, key: str) -> bytes | SyncError | None:
    [answer] = (await session.read([RemoteRef(key)])).values()
    return answer.raw if isinstance(answer, SecretBytes) else answer


# ------------------------------------------------------------------------------------------- sharing
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


# ------------------------------------------------------------------------------------------ batching
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


# -------------------------------------------------------------------------------------- cancellation
async def test_a_reader_who_gives_up_does_not_cancel_the_others(make: Make, manager: Manager) -> None:
    manager.gate.clear()
    session = (await make()).session(store(), "default")
    first, second = (asyncio.create_task(read_one(session, "a")) for _ in range(2))
    await asyncio.sleep(1)
    first.cancel()
    await asyncio.sleep(1)
    manager.gate.set()
    assert await second == b"1"
    assert first.cancelled()
    assert manager.fetches == [("a",)]


async def test_giving_up_during_the_login_does_not_spoil_it_for_the_others(
    make: Make, manager: Manager
) -> None:
    manager.open_delay = 5
    session = (await make()).session(store(), "default")
    first, second = (asyncio.create_task(read_one(session, "a")) for _ in range(2))
    await asyncio.sleep(1)
    first.cancel()
    assert await second == b"1"
    assert len(manager.opened) == 1


@pytest.mark.parametrize("turns", range(12))
@pytest.mark.parametrize("act", ["read", "find", "push", "probe"])
async def test_cancelled_anywhere_a_session_stays_usable(
    make: Make, manager: Manager, act: str, turns: int
) -> None:
    sessions = await make(idle_close=60.0, requests_per_second=1.0, burst=1)
    session = sessions.session(store(), "default")
    acts: dict[str, Callable[[], Awaitable[object]]] = {
        "read": lambda: session.read([RemoteRef("a")]),
        "find": lambda: session.find(FindQuery(name=".*")),
        "push": lambda: session.push(item("p")),
        "probe": session.probe,
    }
    task = asyncio.ensure_future(acts[act]())
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert await read_one(session, "a") == b"1"
    await asyncio.sleep(100)
    assert manager.busy == 0
    assert manager.closed == len(manager.opened) == 1


@pytest.mark.parametrize(
    ("seconds", "where"),
    [
        pytest.param(0.5, "opening", id="while the client is opened"),
        pytest.param(1.5, "calling", id="during the call"),
        pytest.param(3.0, "limited", id="while it waits for the bucket"),
    ],
)
async def test_cancelled_at_each_wait_a_session_loses_nothing(
    make: Make, manager: Manager, seconds: float, where: str
) -> None:
    manager.open_delay = manager.delay = 1.0
    session = (await make(requests_per_second=0.2, burst=1)).session(store(), "default")
    if where == "limited":
        assert await read_one(session, "a") == b"1"
    task = asyncio.create_task(session.push(item("p")))
    await asyncio.sleep(seconds - asyncio.get_running_loop().time())
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert "p" not in manager.values
    await session.push(item("p"))
    assert manager.values["p"] == "v"
    assert asyncio.get_running_loop().time() < 8
    assert len(manager.opened) == 1


async def test_leaving_closes_clients_and_cancels_what_hangs(
    manager: Manager, home: MemoryCluster, clock: Clock, recorder: Recorder
) -> None:
    registry = OneProvider(manager.provider())
    limits = settings(drain_timeout=3.0, call_timeout=1000.0)
    async with Sessions(registry, home, limits, clock=clock, observer=recorder) as sessions:
        session = sessions.session(store(), "default")
        await read_one(session, "a")
        manager.gate.clear()
        hung = asyncio.create_task(read_one(session, "a"))
        await asyncio.sleep(1)
    assert asyncio.get_running_loop().time() == 4
    assert isinstance(await hung, Unavailable)
    assert manager.closed == 1


# ------------------------------------------------------------------------------------------ identity
async def test_a_client_is_opened_when_needed_and_closed_when_idle(make: Make, manager: Manager) -> None:
    session = (await make(idle_close=60.0)).session(store(), "default")
    assert manager.opened == []
    await read_one(session, "a")
    await asyncio.sleep(59)
    await read_one(session, "a")
    await asyncio.sleep(59)
    assert (len(manager.opened), manager.closed) == (1, 0)
    await asyncio.sleep(2)
    assert manager.closed == 1
    assert await read_one(session, "a") == b"1"
    assert len(manager.opened) == 2


async def test_a_client_in_use_is_not_idle(make: Make, manager: Manager) -> None:
    session = (await make(idle_close=5.0, call_timeout=100.0)).session(store(), "default")
    manager.delay = 50
    assert await read_one(session, "a") == b"1"


async def test_a_changed_store_gets_a_new_client_and_the_old_one_finishes(
    make: Make, manager: Manager
) -> None:
    sessions = await make()
    manager.delay = 10
    old = asyncio.create_task(read_one(sessions.session(store(), "default"), "a"))
    await asyncio.sleep(5)
    changed = sessions.session(store(generation=2, version="2"), "default")
    manager.values["a"] = "new"
    assert await read_one(changed, "a") == b"new"
    assert await old == b"new"
    await asyncio.sleep(0)
    assert (len(manager.opened), manager.closed) == (2, 1)


async def test_a_new_status_of_a_store_changes_nothing(make: Make, manager: Manager) -> None:
    sessions = await make()
    await read_one(sessions.session(store(version="1"), "default"), "a")
    await read_one(sessions.session(store(version="2"), "default"), "a")
    assert len(manager.opened) == 1


async def test_a_deleted_store_is_closed_at_once(make: Make, manager: Manager) -> None:
    sessions = await make()
    await read_one(sessions.session(store(), "default"), "a")
    sessions.notice(Change(ChangeKind.DELETED, store()))
    await asyncio.sleep(0.1)
    assert manager.closed == 1
    assert list(sessions.limits()) == []


async def test_a_store_remembers_across_clients_and_lives(make: Make, manager: Manager) -> None:
    sessions = await make()
    await read_one(sessions.session(store(), "default"), "a")
    manager.opened[0].keep["pushed"] = 1
    sessions.notice(Change(ChangeKind.DELETED, store()))
    await read_one(sessions.session(store(generation=7, uid="other"), "default"), "a")
    assert manager.opened[1].keep == {"pushed": 1}


async def test_a_changed_credential_makes_a_new_client(
    make: Make, manager: Manager, home: MemoryCluster
) -> None:
    sessions = await make()
    secret = manifest("Secret", "login", group="", data={"token": "b25l"})
    first = await home.create(secret)
    asking = store(spec={"token": {"name": "login", "key": "token"}})
    await read_one(sessions.session(asking, "default"), "a")
    sessions.notice(Change(ChangeKind.MODIFIED, first))
    await read_one(sessions.session(asking, "default"), "a")
    assert manager.tokens == [b"one"]
    second = await home.update({**first.document, "data": {"token": "dHdv"}})
    sessions.notice(Change(ChangeKind.MODIFIED, second))
    await read_one(sessions.session(asking, "default"), "a")
    assert manager.tokens == [b"one", b"two"]
    assert manager.closed == 1


async def test_a_credential_that_appears_is_used_at_once(
    make: Make, manager: Manager, home: MemoryCluster
) -> None:
    sessions = await make()
    asking = store(spec={"token": {"name": "login", "key": "token"}})
    error = await read_one(sessions.session(asking, "default"), "a")
    assert isinstance(error, Malformed)
    assert 'Secret "login" from namespace "default": it does not exist' in str(error)
    await home.create(manifest("Secret", "login", group="", data={"token": "b25l"}))
    assert await read_one(sessions.session(asking, "default"), "a") == b"1"


async def test_a_cluster_store_is_shared_unless_it_borrows_credentials(
    make: Make, manager: Manager, home: MemoryCluster
) -> None:
    sessions = await make()
    own = store(namespace="", spec={"token": {"name": "login", "key": "token", "namespace": "vault"}})
    await home.create(manifest("Secret", "login", group="", namespace="vault", data={"token": "dg=="}))
    for namespace in ("x", "y"):
        assert await read_one(sessions.session(own, namespace), "a") == b"1"
    assert manager.tokens == [b"v"]
    referent = store("r", namespace="", spec={"token": {"name": "login", "key": "token"}})
    for namespace in ("x", "y"):
        value = {"x": "eA==", "y": "eQ=="}[namespace]
        await home.create(manifest("Secret", "login", group="", namespace=namespace, data={"token": value}))
        assert await read_one(sessions.session(referent, namespace), "a") == b"1"
    assert manager.tokens == [b"v", b"x", b"y"]
    assert await sessions.session(referent, "").probe() == "unknown"
    assert await sessions.session(referent, "").capabilities() == ""


# ------------------------------------------------------------------------------------------- failing
async def test_no_answer_in_time_is_unavailable(make: Make, manager: Manager) -> None:
    manager.gate.clear()
    session = (await make(call_timeout=30.0)).session(store(), "default")
    error = await read_one(session, "a")
    assert isinstance(error, Unavailable)
    assert asyncio.get_running_loop().time() == 30


@pytest.mark.parametrize(
    ("errors", "calls", "answer"),
    [
        pytest.param([Unavailable("x")], 2, b"1", id="once unavailable"),
        pytest.param([Unavailable("x")] * 2, 3, b"1", id="twice unavailable"),
        pytest.param([Unavailable("x")] * 3, 3, Unavailable, id="unavailable for good"),
        pytest.param([Denied("x")], 1, Denied, id="denied"),
        pytest.param([Malformed("x")], 1, Malformed, id="malformed"),
        pytest.param([Throttled("x")], 1, Throttled, id="throttled"),
    ],
)
async def test_only_unavailable_is_tried_again(
    make: Make, manager: Manager, recorder: Recorder, errors: list[SyncError], calls: int, answer: Json
) -> None:
    manager.errors = list(errors)
    session = (await make(call_attempts=3)).session(store(), "default")
    got = await read_one(session, "a")
    assert got == answer if isinstance(answer, bytes) else isinstance(got, answer)
    assert len(manager.fetches) == len(recorder.calls) == calls
    assert recorder.retries == calls - 1


async def test_throttling_closes_the_gate_of_the_store_alone(make: Make, manager: Manager) -> None:
    sessions = await make()
    manager.errors = [Throttled("slow down", retry_after=120.0)]
    session, other = sessions.session(store(), "default"), sessions.session(store("other"), "default")
    first = await read_one(session, "a")
    assert isinstance(first, Throttled)
    assert first.retry_after == 120
    await asyncio.sleep(20)
    again = await read_one(session, "b")
    assert isinstance(again, Throttled)
    assert again.retry_after == 100
    assert await read_one(other, "b") == b"2"
    assert manager.fetches == [("a",), ("b",)]
    await asyncio.sleep(100)
    assert await read_one(session, "b") == b"2"


async def test_annotations_of_a_store_set_its_rate(make: Make, manager: Manager) -> None:
    sessions = await make()
    annotations = {"syncret.dev/requests-per-second": "2", "syncret.dev/burst": "1"}
    session = sessions.session(store(metadata={"annotations": annotations}), "default")
    await asyncio.gather(*(read_one(session, key) for key in "abcde"))
    assert asyncio.get_running_loop().time() == pytest.approx(2)


@pytest.mark.parametrize("value", ["0", "-1", "fast", "nan"])
async def test_a_wrong_rate_is_told(make: Make, manager: Manager, value: str) -> None:
    sessions = await make()
    wrong = store(metadata={"annotations": {"syncret.dev/requests-per-second": value}})
    with pytest.raises(Malformed, match="requests-per-second must be a number above 0"):
        await sessions.session(wrong, "default").probe()


async def test_a_failed_login_is_not_repeated_by_everyone(
    make: Make, manager: Manager, recorder: Recorder
) -> None:
    manager.open_errors = [Denied("wrong password"), Denied("wrong password")]
    session = (await make(retry_min=10.0)).session(store(), "default")
    assert isinstance(await read_one(session, "a"), Denied)
    assert isinstance(await read_one(session, "a"), Denied)
    assert len(manager.open_errors) == 1
    await asyncio.sleep(10)
    assert isinstance(await read_one(session, "a"), Denied)
    await asyncio.sleep(19)
    assert isinstance(await read_one(session, "a"), Denied)
    await asyncio.sleep(1)
    assert await read_one(session, "a") == b"1"
    assert [type(error) for error in recorder.opens] == [Denied, Denied, type(None)]


async def test_a_login_that_hangs_is_unavailable(make: Make, manager: Manager) -> None:
    manager.open_delay = 1000
    session = (await make(call_timeout=30.0)).session(store(), "default")
    assert isinstance(await read_one(session, "a"), Unavailable)
    assert asyncio.get_running_loop().time() == 30


async def test_retry_settings_of_a_store_are_kept(make: Make, manager: Manager) -> None:
    sessions = await make()
    wished = store(beside={"retrySettings": {"maxRetries": 4, "retryInterval": "7s"}})
    manager.errors = [Unavailable("x")] * 4
    assert await read_one(sessions.session(wished, "default"), "a") == b"1"
    assert asyncio.get_running_loop().time() == 28


@pytest.mark.parametrize(
    ("document", "message"),
    [
        pytest.param({"provider": {"nowhere": {}}}, "there is no provider 'nowhere'", id="unknown"),
        pytest.param({"provider": {}}, "does not fit its schema", id="none"),
        pytest.param({"provider": {"manager": {"token": 1}}}, "does not fit its schema", id="wrong type"),
        pytest.param({"provider": {"manager": {}, "fake": {}}}, "does not fit its schema", id="two"),
    ],
)
async def test_a_store_that_cannot_be_served_says_so(make: Make, document: Json, message: str) -> None:
    wrong = store(beside=document)
    session = (await make()).session(wrong, "default")
    assert message in str(session.failure)
    with pytest.raises(Malformed, match=message):
        await session.probe()
    [answer] = (await session.read([RemoteRef("a")])).values()
    assert isinstance(answer, Malformed)


async def test_a_provider_without_a_client_is_known_only(home: MemoryCluster, clock: Clock) -> None:
    registry = OneProvider(Provider(SpecType("manager", ManagerSpec)))
    async with Sessions(registry, home, settings(), clock=clock) as sessions:
        with pytest.raises(Malformed, match="provider manager is known, but this build cannot reach it"):
            await sessions.session(store(), "default").probe()


async def test_a_substitute_serves_in_the_place_of_a_provider(
    manager: Manager, home: MemoryCluster, clock: Clock
) -> None:
    registry = OneProvider(Provider(SpecType("manager", ManagerSpec)))
    real = manager.provider()
    sessions = Sessions(registry, home, settings(), clock=clock, substitute=lambda ref, provider: real)
    async with sessions:
        assert await read_one(sessions.session(store(), "default"), "a") == b"1"


# -------------------------------------------------------------------------------------------- acting
async def test_writes_are_told_with_what_was_written(
    make: Make, manager: Manager, recorder: Recorder
) -> None:
    session = (await make()).session(store(namespace=""), "team")
    await session.push(item("new", "value"))
    assert await session.exists(RemoteTarget("new"))
    await session.delete(RemoteTarget("new"))
    assert not await session.exists(RemoteTarget("new"))
    assert [(call.operation, call.namespace, call.failure) for call in recorder.calls] == [
        ("push", "team", None),
        ("exists", "team", None),
        ("delete", "team", None),
        ("exists", "team", None),
    ]
    assert recorder.calls[0].item == item("new", "value")


async def test_writers_of_one_entry_take_turns(make: Make, manager: Manager) -> None:
    manager.delay = 1
    session = (await make()).session(store(), "default")
    await asyncio.gather(*(session.push(item("list", letter)) for letter in "abc"), session.push(item("x")))
    assert manager.values["list"] == "abc"
    assert manager.most_busy == 2, "different entries are written side by side"


async def test_found_keys_are_converted(make: Make, manager: Manager) -> None:
    manager.values = {"a/b": "1"}
    session = (await make()).session(store(), "default")
    assert await session.find(FindQuery(name=".*")) == {"a_b": SecretBytes(b"1")}
    assert await session.find(FindQuery(name=".*", conversion="Unicode")) == {"a_U002f_b": SecretBytes(b"1")}


async def test_equal_searches_are_one_call(make: Make, manager: Manager) -> None:
    session = (await make()).session(store(), "default")
    await asyncio.gather(*(session.find(FindQuery(name="x")) for _ in range(10)))
    assert manager.finds == 1


async def test_a_fault_stands_in_for_the_call(make: Make, manager: Manager, recorder: Recorder) -> None:
    broken = {"read", "push"}

    def faults(operation: Operation, ref: ObjectRef) -> str | None:
        return f"{operation} of {ref} is broken" if operation in broken else None

    sessions = await make(faults=faults)
    session = sessions.session(store(), "default")
    error = await read_one(session, "a")
    assert isinstance(error, SyncError)
    assert str(error) == "read of SecretStore/default/s is broken"
    with pytest.raises(SyncError, match="push"):
        await session.push(item("x"))
    await session.delete(RemoteTarget("x"))
    assert manager.fetches == []
    assert [(call.operation, call.failure is None) for call in recorder.calls] == [
        ("read", False),
        ("push", False),
        ("delete", True),
    ]


async def test_one_store_that_hangs_leaves_nine_alone(make: Make, manager: Manager, clock: Clock) -> None:
    hung = Manager({"a": "1"})
    hung.gate.clear()
    real, stuck = manager.provider(), hung.provider()
    registry = OneProvider(real)
    home = MemoryCluster(now=clock.now)
    sessions = Sessions(
        registry,
        home,
        settings(drain_timeout=0.0),
        clock=clock,
        substitute=lambda ref, provider: stuck if ref.name == "s0" else provider,
    )
    async with sessions:
        opened = [sessions.session(store(f"s{number}"), "default") for number in range(10)]
        waiting = [asyncio.create_task(read_one(opened[0], "a")) for _ in range(50)]
        for _ in range(20):
            await asyncio.gather(*(read_one(session, "a") for session in opened[1:]))
        assert asyncio.get_running_loop().time() == 0
    assert {type(error) for error in await asyncio.gather(*waiting)} == {Unavailable}


async def test_what_a_session_prints_is_short(make: Make) -> None:
    sessions = await make()
    session = sessions.session(store(), "default")
    assert repr(session) == "<Session default <Channel SecretStore/default/s idle>>"
    await read_one(session, "a")
    assert repr(session) == "<Session default <Channel SecretStore/default/s <LentClient open users=0>>>"
    assert repr(sessions) == "<Sessions stores=1 channels=1 open=1>"
