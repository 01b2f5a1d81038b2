"""How many runs one store may have, and all of them, when some of them do not answer."""

from collections import Counter
from math import inf

from syncret.config.meta import ObjectRef
from syncret.daemon.engine.queue.fair_queue import FairQueue, Lanes
from tests.unit.daemon.engine.support import ref


def filled(counts: dict[str, int], *, cap: int = 100, waits: int = 800) -> FairQueue:
    """So many ready items in each lane."""
    queue = FairQueue(cap, waits)
    for lane, count in counts.items():
        for number in range(count):
            queue.add(ref(f"{lane}-{number}"), 0.0, urgent=False, lanes=(lane,))
    return queue


def started(queue: FairQueue) -> Counter[str]:
    """Start all that may be started: how many in each lane."""
    found: Counter[str] = Counter()
    while (item := queue.pop()) is not None:
        found.update(item[2])
    return found


def end(queue: FairQueue, name: str, *lanes: str) -> None:
    """A run is over."""
    for lane in lanes:
        queue.release(lane)
    queue.finish(ref(name), lanes)


def add(queue: FairQueue, name: str, *lanes: str) -> None:
    queue.add(ref(name), 0.0, urgent=False, lanes=lanes)


def test_a_lane_has_no_more_than_its_cap() -> None:
    queue = filled({"a": 300, "b": 20})
    assert started(queue) == {"a": 100, "b": 20}
    end(queue, "a-0", "a")
    assert started(queue) == {"a": 1}


def test_all_lanes_together_have_no_more_than_seven_eighths_of_the_waits() -> None:
    queue = filled({f"s{number}": 100 for number in range(10)})
    assert started(queue).total() == 700
    assert not queue.open
    end(queue, "s0-0", "s0")
    assert started(queue).total() == 1


def test_stores_that_do_not_answer_share_a_small_part() -> None:
    queue = filled({"a": 300, "b": 300, "c": 300})
    for name in "ab":
        queue.set_answering(name, "no")
    assert started(queue) == {"a": 50, "b": 50, "c": 100}
    queue.set_answering("a", "unknown")
    assert started(queue) == {"a": 50, "b": 50}, "the other one has the part for itself"


def test_each_store_may_have_one_run_however_many_do_not_answer() -> None:
    names = [f"s{number}" for number in range(400)]
    queue = filled(dict.fromkeys(names, 2))
    for name in names:
        queue.set_answering(name, "no")
    assert started(queue) == dict.fromkeys(names, 1)


def test_what_a_store_that_fell_silent_had_started_does_not_count_against_the_others() -> None:
    hung = [f"s{number}" for number in range(7)]
    queue = filled(dict.fromkeys(hung, 150))
    assert started(queue).total() == 700
    for number in range(200):
        add(queue, f"well-{number}", "well")
    assert not started(queue)
    for name in hung:
        queue.set_answering(name, "no")
    assert started(queue) == {"well": 100}


def test_an_answer_opens_the_lane_again() -> None:
    queue = filled({"a": 300, "b": 300})
    for name in "ab":
        queue.set_answering(name, "no")
    assert started(queue) == {"a": 50, "b": 50}
    queue.set_answering("a", "yes")
    assert started(queue) == {"a": 50, "b": 50}
    assert queue.open is False


def test_new_stores_begin_with_little_once_very_many_wait_in_vain() -> None:
    """Otherwise a thousand stores that hang could have a hundred waiting runs each."""
    total = 0
    queue = FairQueue(100, 800)
    for number in range(100):
        lane = f"s{number}"
        for place in range(200):
            add(queue, f"{lane}-{place}", lane)
        total += started(queue).total()
        queue.set_answering(lane, "no")
    assert 800 <= total < 1600
    for number in range(200):
        add(queue, f"well-{number}", "well")
    assert started(queue) == {"well": 1}, "the first that is asked"
    queue.set_answering("well", "yes")
    assert started(queue) == {"well": 99}


def test_room_that_comes_back_is_used() -> None:
    queue = filled({"a": 800}, cap=800, waits=80)
    assert started(queue).total() == 70
    queue.set_answering("a", "no")
    add(queue, "b-0", "b")
    add(queue, "b-1", "b")
    for number in range(9):
        add(queue, f"x-{number}", f"x{number}")
    assert started(queue)["b"] == 2
    for number in range(12):
        add(queue, f"b-{number + 2}", "b")
    assert started(queue) == {"b": 8}, "all together have what they may: it has the share of a silent one"
    for number in range(9):
        end(queue, f"a-{number}", "a")
    assert not started(queue)
    end(queue, "a-9", "a")
    assert started(queue) == {"b": 1}


def test_an_item_of_two_stores_waits_at_the_one_that_has_no_room() -> None:
    queue = filled({"b": 200}, cap=100)
    started(queue)
    queue.set_answering("b", "no")
    both: Lanes = ("a", "b")
    for number in range(200):
        add(queue, f"both-{number}", *both)
    for number in range(50):
        add(queue, f"a-{number}", "a")
    assert started(queue) == {"a": 50}, "those that read from both keep none that reads from a"
    for number in range(100):
        end(queue, f"b-{number}", "b")
    queue.set_answering("b", "yes")
    found = started(queue)
    assert found["b"] == 100
    assert found["a"] < 50, "items of b come first there"


def test_a_run_counts_in_all_its_lanes_until_it_gives_one_up() -> None:
    queue = FairQueue(1, 80)
    add(queue, "both", "a", "b")
    add(queue, "a", "a")
    add(queue, "b", "b")
    assert started(queue) == {"a": 1, "b": 1}
    queue.release("a")
    item = queue.pop()
    assert item is not None
    assert item[0] == ref("a")
    queue.use("a")
    assert queue.pop() is None
    end(queue, "both", "a", "b")
    assert started(queue) == {"b": 1}


def test_items_that_wait_for_no_store_are_never_taken_for_those_of_a_store_that_may_hang() -> None:
    queue = filled({"a": 70}, cap=70, waits=80)
    assert started(queue) == {"a": 70}
    queue.set_answering("a", "no")
    for number in range(100):
        add(queue, f"x-{number}", "")
    assert started(queue) == {"": 70}


def test_the_oldest_item_of_a_lane_is_known_while_it_is_ready_and_while_it_runs() -> None:
    queue = FairQueue(10, 80)
    for since, name in ((3.0, "a"), (5.0, "b")):
        queue.add(ref(name), since, urgent=False, lanes=("s", "t"))
    assert (queue.has_before("s", 3.0), queue.has_before("s", 3.1)) == (False, True)
    assert queue.oldest == 3.0
    queue.pop()
    assert queue.oldest == 5.0
    assert queue.has_before("s", 3.1)
    assert queue.has_before("t", 3.1)
    end(queue, "a", "s", "t")
    assert (queue.has_before("s", 5.0), queue.has_before("s", 5.1)) == (False, True)
    queue.pop()
    end(queue, "b", "s", "t")
    assert not queue.has_before("s", inf)
    assert queue.oldest == inf


def test_nothing_is_left_of_lanes_that_are_over() -> None:
    queue = filled({"a": 3, "b": 3})
    queue.set_answering("a", "no")
    taken: list[tuple[ObjectRef, float, Lanes]] = []
    while (item := queue.pop()) is not None:
        taken.append(item)
    for name, _, lanes in taken:
        end(queue, name.name, *lanes)
    queue.set_answering("a", "unknown")
    assert vars(queue) == vars(FairQueue(100, 800))
