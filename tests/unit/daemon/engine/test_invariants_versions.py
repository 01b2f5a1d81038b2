"""I2, I11: the newest version wins whatever came in between, and what is gone stays gone."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from syncret.config.meta import GroupKind, ObjectRef
from syncret.daemon.engine.inventory import Inventory
from syncret.daemon.homes.contract import StoredObject, WatchEvent, WatchEventType

KIND = GroupKind("external-secrets.io", "ExternalSecret")
REF = ObjectRef(*KIND, "default", "a")


def version(number: int, uid: str = "u") -> StoredObject:
    return StoredObject(ref=REF, uid=uid, resource_version=str(number), generation=1, data=b"{}")


def event(type_: WatchEventType, stored: StoredObject) -> WatchEvent:
    return WatchEvent(type_, KIND, stored)


@given(
    lives=st.lists(st.integers(1, 4), min_size=1, max_size=4),
    is_there=st.booleans(),
    skipped=st.floats(0, 1),
    seed=st.integers(0, 10_000),
)
def test_i2_replayed_in_any_order_the_newest_version_is_held(
    lives: list[int], *, is_there: bool, skipped: float, seed: int
) -> None:
    """Answers and reads come at any time, the events of the watch in their order, with gaps."""
    chance = Random(seed)  # noqa: S311  # a test
    stream: list[WatchEvent] = []
    number = 0
    for life, length in enumerate(lives):
        for _ in range(length):
            number += 1
            stream.append(event(WatchEventType.MODIFIED, version(number, f"u{life}")))
        stream.append(event(WatchEventType.DELETED, version(number, f"u{life}")))
    if is_there:
        del stream[-1]
    answers = [each.object for each in stream if each.object and each.type is WatchEventType.MODIFIED]
    told = [each for each in stream[:-1] if chance.random() >= skipped] + stream[-1:]
    inventory = Inventory()
    late: list[WatchEvent | StoredObject] = [*answers]
    chance.shuffle(late)
    for place in told:
        late.insert(chance.randint(0, len(late)), place)
    order = iter(told)
    for each in late:
        if isinstance(each, StoredObject):
            inventory.record(each)
        else:
            inventory.apply(next(order))
    held = inventory.get(REF)
    assert held == (version(number, f"u{len(lives) - 1}") if is_there else None)


def test_i2_the_answer_of_a_write_does_not_revive_what_was_deleted_meanwhile() -> None:
    inventory = Inventory()
    inventory.record(version(1))
    inventory.apply(event(WatchEventType.DELETED, version(2)))
    assert inventory.record(version(2)) is None
    assert inventory.get(REF) is None
    assert inventory.record(version(3, "another")) is not None


def test_i11_what_a_new_list_lacks_is_gone_unless_it_is_newer_than_the_list() -> None:
    inventory = Inventory()
    inventory.record(version(5))
    inventory.record(version(9))  # by the answer of a write, after the list was made
    assert inventory.apply(event(WatchEventType.DELETED, version(7))) is None
    assert inventory.get(REF) == version(9)
    assert inventory.apply(event(WatchEventType.DELETED, version(12))) is not None
    assert inventory.get(REF) is None
    assert inventory.record(version(11)) is None


def test_i11_another_object_of_the_name_is_not_taken_for_the_one_that_went() -> None:
    inventory = Inventory()
    inventory.record(version(5, "former"))
    inventory.record(version(9, "latter"))
    assert inventory.apply(event(WatchEventType.DELETED, version(7, "former"))) is None
    assert inventory.get(REF) == version(9, "latter")
