"""Cases of failures: their classes, new credentials, cancellation, no value in an error."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from syncret.providers.contract import Client, Writer
from syncret.providers.errors import Denied, SyncError, Throttled, Unavailable
from syncret.providers.testing.calls import chain, failing, fields, item, prober, read
from syncret.providers.testing.harness import Ability, Entry, Fault, Harness
from syncret.providers.testing.running import AsyncCases, needs
from syncret.providers.values import RemoteRef

CANARY = "canary-9b1f4c"
STEPS = 12
"""The most turns of the event loop before a call is cancelled."""


class FailingCases(AsyncCases):
    """What the engine relies on when something goes wrong."""

    async def test_can_be_probed(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.PROBE)
        assert await prober(client).probe() in {"ready", "unknown"}

    @pytest.mark.parametrize(
        ("fault", "ability", "expected"),
        [
            pytest.param(Fault.THROTTLE, Ability.THROTTLE, Throttled, id="throttled"),
            pytest.param(Fault.DENY, Ability.DENY, Denied, id="denied"),
            pytest.param(Fault.TIME_OUT, Ability.TIME_OUT, Unavailable, id="timed out"),
        ],
    )
    async def test_failures_are_distinguished(
        self, harness: Harness, client: Client, fault: Fault, ability: Ability, expected: type[SyncError]
    ) -> None:
        needs(harness, Ability.READ, ability)
        secret = harness.whole(CANARY)
        await harness.seed(Entry(harness.key("a"), secret))
        with harness.broken(fault), pytest.raises(expected) as caught:
            await failing(client, RemoteRef(harness.key("a")).remote_key())

        assert not [word for word in (CANARY, *harness.canaries) if word in chain(caught.value)]
        assert await read(client, RemoteRef(harness.key("a"))) == secret, "it recovers"

    async def test_new_credentials_are_taken_up(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.READ, Ability.ROTATE)
        ref, one = RemoteRef(harness.key("a")), harness.whole("one")
        await harness.seed(Entry(ref.key, one))
        before = await read(client, ref)
        await harness.rotate()
        try:
            meanwhile = await read(client, ref)
        except Denied:
            meanwhile = one  # the engine opens another client when a Secret changes
        async with harness.open() as anew:
            assert (before, meanwhile, await read(anew, ref)) == (one, one, one)

    async def test_a_call_can_be_cancelled_anywhere(self, harness: Harness, client: Client) -> None:
        needs(harness, Ability.READ)
        one = harness.whole("one")
        await harness.seed(Entry(harness.key("a"), one))
        ref = RemoteRef(harness.key("a"))
        for steps in range(STEPS):
            call = asyncio.create_task(read(client, ref), name="to be cancelled")
            for _ in range(steps):
                await asyncio.sleep(0)
            call.cancel()
            await asyncio.wait([call])
            assert call.cancelled() or call.result() == one

        assert await read(client, ref) == one

    async def test_no_error_holds_a_value(self, harness: Harness, client: Client) -> None:
        key, pushed = harness.key("canary"), harness.key("pushed")
        acts: list[Callable[[], Awaitable[object]]] = []
        if Ability.READ not in harness.lacks:
            await harness.seed(Entry(key, harness.whole(f'{CANARY} "{CANARY}')))
            acts += [lambda: fields(client, RemoteRef(key)), lambda: read(client, RemoteRef(key, CANARY[:6]))]
        if isinstance(client, Writer) and Ability.PUSH not in harness.lacks:
            target = client
            acts += [
                lambda: target.push(item(pushed, CANARY.encode())),
                lambda: target.push(item(pushed, CANARY.encode(), "property")),
                lambda: target.push(item(key, CANARY.encode())),
            ]
        for act in acts:
            try:
                await act()
            except SyncError as error:
                words = [word for word in (CANARY, *harness.canaries) if word in chain(error)]
                assert not words, "an error holds a value"

        assert not [word for word in (CANARY, *harness.canaries) if word in repr(client)]
