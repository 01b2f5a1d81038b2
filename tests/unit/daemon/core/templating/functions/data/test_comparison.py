"""Equality all the way down, of values that share much."""

from syncret.daemon.core.templating.functions.contract import Context
from syncret.daemon.core.templating.functions.data.comparison import deep_equal
from syncret.daemon.core.templating.golang.values import Value
from tests.unit.daemon.core.templating.functions.rendering import NOW, Chance


def doubled(seed: Value, times: int) -> list[Value]:
    value: list[Value] = [seed]
    for _ in range(times):
        value = [value, value]
    return value


def test_what_is_shared_is_compared_once() -> None:
    context = Context(NOW, Chance())
    assert deep_equal(context, doubled(1, 60), doubled(1, 60))
    assert not deep_equal(context, doubled(1, 60), doubled(2, 60))
