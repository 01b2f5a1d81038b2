"""What a sync computes: a little of it on the loop, the rest in threads, all of it out of one budget."""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

from syncret.daemon.engine.templates import TemplateLimits, Templates
from syncret.daemon.engine.work import TimeLimit, WorkLimits, WorkThreads
from syncret.providers.errors import Malformed, OverBudget
from syncret.providers.work import STEPS_A_SECOND, Work

pytestmark = pytest.mark.time("real")

KEYS = '{{ range until 10 }}{{ $_ := genPrivateKey "rsa" }}{{ end }}'
LOOPS = "{{ range until 1000 }}{{ range until 1000 }}{{ end }}{{ end }}"
MAIN = "MainThread"


@pytest.fixture
def threads() -> Iterator[WorkThreads]:
    threads = WorkThreads()
    yield threads
    threads.close()


def rendering(text: str, limits: TemplateLimits | None = None) -> Callable[[Work], bytes]:
    return lambda work: Templates(time.time, limits).of(work).render("t", text, {"user": b"app"})


def thread_name() -> str:
    return threading.current_thread().name.partition("_")[0]


async def test_what_is_little_is_done_at_once_and_paid_for(threads: WorkThreads) -> None:
    sync = threads.sync()
    left: list[int] = []

    def pay(work: Work) -> str:
        work.take(1000, 10)
        return thread_name()

    assert await sync.run(pay) == MAIN
    await sync.run(lambda work: left.append(work.steps))
    work = threads.new_work()
    assert sync.again().work.steps == work.steps - 1000
    assert sync.again().work.memory == work.memory - 10


@pytest.mark.parametrize("caught", [False, True], ids=["raised", "caught by a function in between"])
async def test_what_is_more_is_done_again_in_a_thread(threads: WorkThreads, *, caught: bool) -> None:
    names: list[str] = []

    def pay(work: Work) -> str:
        names.append(thread_name())
        try:
            work.step(STEPS_A_SECOND // 10)
        except OverBudget:
            if not caught:
                raise
        return thread_name()

    assert await threads.sync().run(pay) == "work"
    assert names == [MAIN, "work"]


async def test_the_budget_is_one_for_all_that_a_sync_computes(threads: WorkThreads) -> None:
    sync = threads.sync()
    for _ in range(3):
        await sync.run(lambda work: work.step(STEPS_A_SECOND // 4))
    await sync.run(lambda work: work.step(STEPS_A_SECOND // 4 - 1))
    with pytest.raises(OverBudget, match="workTime"):
        await sync.run(lambda work: work.step(2))


async def test_what_is_left_may_be_less_than_little() -> None:
    sync = WorkThreads(WorkLimits(time=0.0001, memory=100)).sync()
    with pytest.raises(OverBudget, match="workMemory"):
        await sync.run(lambda work: work.make(101))
    with pytest.raises(OverBudget, match="workTime"):
        await WorkThreads(WorkLimits(time=0.0001)).sync().run(lambda work: work.step(351))


async def test_other_errors_are_those_of_the_function(threads: WorkThreads) -> None:
    sync = threads.sync()

    def fail(work: Work) -> None:
        work.step(5)
        raise Malformed("it is wrong")

    with pytest.raises(Malformed, match="it is wrong"):
        await sync.run(fail)
    assert sync.again().work.steps == STEPS_A_SECOND - 5


async def test_what_takes_long_in_one_piece_never_begins_on_the_loop(threads: WorkThreads) -> None:
    def long(work: Work) -> str:
        work.begin_long()
        return thread_name()

    assert await threads.sync().run(long) == "work"


async def test_the_loop_stays_free_while_keys_are_made(threads: WorkThreads) -> None:
    making = asyncio.create_task(threads.compute(rendering('{{ genPrivateKey "rsa" | len }}')))
    turns = 0
    while not making.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert int(await making) > 3000
    assert turns > 1


async def test_the_clock_limits_what_the_count_of_steps_does_not(threads: WorkThreads) -> None:
    limits = TemplateLimits(timeout=0.05)
    begin = time.monotonic()
    with pytest.raises(OverBudget, match=r"templateTimeout \(0\.05 s\)"):
        await threads.sync().run(rendering(KEYS, limits), Templates(time.time, limits).time_limit)
    assert time.monotonic() - begin < 30  # all the keys take minutes


async def test_who_gives_up_ends_the_work(threads: WorkThreads) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    turns = 0

    def spin(work: Work) -> None:
        nonlocal turns
        work.begin_long()
        loop.call_soon_threadsafe(begun.set)
        try:
            while True:
                work.steps += 1
                work.step()
                turns += 1
        finally:
            loop.call_soon_threadsafe(ended.set)

    spinning = asyncio.create_task(threads.compute(spin))
    await begun.wait()
    spinning.cancel()
    with suppress(asyncio.CancelledError):
        await spinning
    assert spinning.cancelled()
    async with asyncio.timeout(60):
        await ended.wait()


async def test_waiting_for_a_thread_does_not_count(threads: WorkThreads) -> None:
    limit = TimeLimit(5, lambda: Malformed("too slow"))
    slow = rendering('{{ range until 1 }}{{ $_ := derivePassword 1 "long" "p" "u" "s" }}{{ end }}')
    assert await asyncio.gather(*(threads.sync().run(slow, limit) for _ in range(6))) == [b""] * 6


@pytest.mark.parametrize(
    ("text", "thread"),
    [
        pytest.param("{{ .user }}", MAIN, id="cheap"),
        pytest.param("{{ range 2000 }}{{ . }}{{ end }}", "work", id="much work"),
        pytest.param('{{ repeat 2000000 "a" | len }}', "work", id="much memory"),
        pytest.param('{{ genPrivateKey "ecdsa" | len }}', "work", id="a key"),
        pytest.param("{{/*" + "a" * 5000 + "*/}}", "work", id="long"),
        pytest.param('{{ regexMatch "\\\\pL{3}" .user }}', "work", id="an expression that grows"),
    ],
)
async def test_only_what_is_cheap_is_rendered_on_the_loop(
    threads: WorkThreads, text: str, thread: str
) -> None:
    names: list[str] = []

    def render(work: Work) -> None:
        rendering(text)(work)
        names.append(thread_name())

    await threads.compute(render)
    assert names == [thread]


async def test_one_long_call_is_made_in_a_process(threads: WorkThreads) -> None:
    assert await threads.compute(lambda work: work.apart("asking", os.getpid)) != os.getpid()


async def test_a_call_apart_has_a_deadline() -> None:
    threads = WorkThreads(WorkLimits(call=0.2))
    with pytest.raises(OverBudget, match=r"^sleeping took longer than templateTimeout \(0\.2 s\)$"):
        await threads.compute(lambda work: work.apart("sleeping", time.sleep, 60))
    threads.close()


def endless_key_store() -> bytes:
    """A PKCS#12 file whose check of the password takes two thousand million rounds, which is hours."""
    key = ec.generate_private_key(ec.SECP256R1())
    data = pkcs12.serialize_key_and_certificates(b"n", key, None, None, BestAvailableEncryption(b"p"))
    rounds = b"\x02\x02\x08\x00"
    head, outer, content = data[:2], int.from_bytes(data[2:4]), data[4:]
    assert (head, outer) == (b"\x30\x82", len(content))
    assert content.endswith(rounds)
    begin = content.rindex(b"\x30\x41\x30\x31\x30\x0d")  # the block of the check, 65 bytes long
    block = content[begin + 2 : -len(rounds)] + b"\x02\x04\x7f\xff\xff\xff"
    return head + (outer + 2).to_bytes(2) + content[:begin] + bytes([0x30, len(block)]) + block


async def test_a_key_store_that_asks_for_billions_of_rounds_ends() -> None:
    data, threads = {"k": endless_key_store()}, WorkThreads(WorkLimits(call=0.3))

    def render(work: Work) -> bytes:
        return Templates(time.time).of(work).render("t", '{{ .k | pkcs12keyPass "p" }}', data)

    try:
        with pytest.raises(
            OverBudget, match=r"key t: reading a PKCS#12 file took longer than templateTimeout \(0\.3 s\)$"
        ):
            await threads.compute(render)
    finally:
        threads.close()


def test_templates_draw_from_the_work_of_their_sync() -> None:
    work = Work(seconds=0.02)
    sync = Templates(time.time).of(work)
    sync.render("a", "{{ range until 1000 }}{{ end }}", {})
    assert work.steps < STEPS_A_SECOND // 50 - 1000
    with pytest.raises(
        OverBudget, match="template at key b: the object asks for more work than workTime allows"
    ):
        sync.render("b", "{{ range until 100000 }}{{ end }}", {})


def test_the_limits_of_templates_are_within_those_of_the_sync() -> None:
    work = Work(seconds=1)
    with pytest.raises(Malformed, match="templateTime"):
        Templates(time.time).of(work).render("t", LOOPS, {})
    assert not work.spent


def test_a_request_makes_no_keys() -> None:
    with pytest.raises(Malformed, match="no keys"):
        Templates(time.time).request('{{ genPrivateKey "rsa" }}', {}, Work())


def test_a_key_that_is_no_text_is_refused() -> None:
    rename = Templates(time.time).of(Work()).transform("{{ .value | trunc 1 }}")
    assert rename("db") == "d"
    with pytest.raises(Malformed, match="not text"):
        rename("é")


def test_other_delimiters_are_for_outputs_alone() -> None:
    templates, data = Templates(time.time, delims=("<<", ">>")), {"user": b"app"}
    sync = templates.of(Work())
    assert sync.render("t", "<< .user >> {{ .user }}", data) == b"app {{ .user }}"
    assert sync.transform("{{ .value }}<<")("a") == "a<<"
    assert templates.request("{{ .login.user }}<<", {"login": {"user": "app"}}, Work()) == "app<<"
