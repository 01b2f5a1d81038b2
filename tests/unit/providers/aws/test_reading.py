"""What is asked for together, and what alone."""

from collections.abc import Sequence

import pytest

from syncret.providers.aws.reading import Answers, BatchReader
from syncret.providers.aws.service import Absent, Forbidden
from syncret.providers.contract import Paced
from syncret.providers.errors import Denied, Malformed, SyncError, Throttled, Unavailable
from syncret.providers.values import SecretBytes


class Manager:
    """Returns each name as its value, except for those that it is set to refuse."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.batches = True
        self.refused: dict[str, SyncError] = {}

    async def many(self, names: Sequence[str], _: Paced) -> Answers:
        self.calls.append(tuple(names))
        if not self.batches or self.refused.keys() & set(names):
            raise Forbidden("no")
        return {name: SecretBytes(name.encode()) for name in names if name != "absent"}

    async def one(self, name: str) -> SecretBytes:
        self.calls.append((name,))
        if name in self.refused:
            raise self.refused[name]
        if name == "absent":
            raise Absent("none")
        return SecretBytes(name.encode())


@pytest.fixture
def manager() -> Manager:
    return Manager()


@pytest.fixture
def batches(manager: Manager) -> BatchReader:
    return BatchReader(manager.many, manager.one, size=2)


async def test_names_go_together_as_many_as_fit(manager: Manager, batches: BatchReader) -> None:
    found = await batches.get(["a", "absent", "b", "c", "d"])

    assert found == {name: SecretBytes(name.encode()) for name in "abcd"}
    assert manager.calls == [("a", "absent"), ("b", "c"), ("d",)]


async def test_one_refused_name_is_found_and_then_asked_for_alone(
    manager: Manager, batches: BatchReader
) -> None:
    manager.refused["b"] = Forbidden("not yours")
    first = await batches.get(["a", "b"])
    manager.calls.clear()
    second = await batches.get(["a", "b", "c"])
    manager.refused.clear()
    await batches.get(["b"])
    manager.calls.clear()
    await batches.get(["a", "b"])

    assert [type(first[name]) for name in "ab"] == [SecretBytes, Forbidden]
    assert [type(second[name]) for name in "abc"] == [SecretBytes, Forbidden, SecretBytes]
    assert manager.calls == [("a", "b")], "what is allowed again is asked for together again"


async def test_where_batches_are_not_allowed_they_are_not_tried_twice(
    manager: Manager, batches: BatchReader
) -> None:
    manager.batches = False
    await batches.get(["a", "b"])
    manager.calls.clear()
    found = await batches.get(["a", "absent"])

    assert found == {"a": SecretBytes(b"a")}
    assert manager.calls == [("a",), ("absent",)]


@pytest.mark.parametrize(
    ("error", "whole"),
    [
        pytest.param(Denied("no"), False, id="denied"),
        pytest.param(Malformed("what?"), False, id="malformed"),
        pytest.param(Unavailable("gone"), True, id="unavailable"),
        pytest.param(Throttled("slower"), True, id="throttled"),
    ],
)
async def test_what_concerns_all_is_raised(
    manager: Manager, batches: BatchReader, error: SyncError, *, whole: bool
) -> None:
    manager.batches = False
    manager.refused["b"] = error
    if whole:
        with pytest.raises(type(error)):
            await batches.get(["a", "b"])
    else:
        assert (await batches.get(["a", "b"]))["b"] is error
