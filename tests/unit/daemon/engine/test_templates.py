"""Rendering in threads, on a real clock: the loop stays free, time is limited, and who gives up ends it."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial

import pytest

from syncret.daemon.engine.templates import TemplateLimits, Templates
from syncret.providers.errors import Malformed

pytestmark = pytest.mark.time("real")

KEYS = '{{ range until 10 }}{{ $_ := genPrivateKey "rsa" }}{{ end }}'


@pytest.fixture
def templates() -> Iterator[Templates]:
    with Templates(time.time) as templates:
        yield templates


async def rendered(templates: Templates, text: str) -> bytes:
    bench = templates.bench()
    return await bench.run(partial(bench.render, "t", text, {}))


async def test_the_loop_stays_free_while_keys_are_made(templates: Templates) -> None:
    making = asyncio.create_task(rendered(templates, '{{ genPrivateKey "rsa" | len }}'))
    turns = 0
    while not making.done():
        await asyncio.sleep(0.001)
        turns += 1
    assert int(await making) > 3000
    assert turns > 1


async def test_the_clock_limits_what_the_count_of_steps_does_not() -> None:
    with Templates(time.time, TemplateLimits(timeout=0.05)) as templates:
        begin = time.monotonic()
        with pytest.raises(Malformed, match=r"not done within 0\.05 s"):
            await rendered(templates, KEYS)
        assert time.monotonic() - begin < 2


async def test_who_gives_up_ends_the_work(templates: Templates) -> None:
    bench = templates.bench()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def render() -> bytes:
        try:
            return bench.render("t", KEYS, {})
        finally:
            loop.call_soon_threadsafe(ended.set)

    work = asyncio.create_task(bench.run(render))
    await asyncio.sleep(0.05)
    begin = time.monotonic()
    work.cancel()
    with suppress(asyncio.CancelledError):
        await work
    assert work.cancelled()
    assert time.monotonic() - begin < 1  # it does not wait for the thread
    async with asyncio.timeout(20):
        await ended.wait()
    assert bench.budget.keys > 0  # the thread has ended before all ten were made


async def test_waiting_for_a_thread_does_not_count() -> None:
    with Templates(time.time, TemplateLimits(timeout=5)) as templates:
        slow = '{{ range until 1 }}{{ $_ := derivePassword 1 "long" "p" "u" "s" }}{{ end }}'
        results = await asyncio.gather(*(rendered(templates, slow) for _ in range(6)))
    assert results == [b""] * 6


@pytest.mark.parametrize(
    ("text", "thread"),
    [
        pytest.param("{{ .user }}", "MainThread", id="cheap"),
        pytest.param("{{ range 2000 }}{{ . }}{{ end }}", "template", id="much work"),
        pytest.param('{{ repeat 200000 "a" | len }}', "template", id="much memory"),
        pytest.param('{{ genPrivateKey "ecdsa" | len }}', "template", id="a key"),
        pytest.param("{{/*" + "a" * 5000 + "*/}}", "template", id="long"),
    ],
)
async def test_only_what_is_cheap_is_rendered_on_the_loop(
    templates: Templates, text: str, thread: str
) -> None:
    bench = templates.bench()
    threads: list[str] = []

    def render() -> bytes:
        made = bench.render("t", text, {"user": b"app"})
        threads.append(threading.current_thread().name.partition("_")[0])
        return made

    await bench.run(render)
    assert threads == [thread]


def test_a_key_that_is_no_text_is_refused(templates: Templates) -> None:
    rename = templates.bench().transform("{{ .value | trunc 1 }}")
    assert rename("db") == "d"
    with pytest.raises(Malformed, match="not text"):
        rename("é")
