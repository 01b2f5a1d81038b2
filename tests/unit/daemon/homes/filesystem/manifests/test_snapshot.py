"""Which deletions wait, and how long: looks at made-up manifests at made-up times."""

from collections.abc import Collection, Mapping
from typing import Final

import pytest

from syncret.config.errors import Severity
from syncret.config.meta import ObjectRef
from syncret.daemon.homes.filesystem.manifests.snapshot import DeletionGrace, Snapshot

GRACE: Final = 60.0
NOON: Final = 1767268800.0
"""The time of day at which the event loop's time is 0."""


class Looks:
    """Looks at the manifests in `/m`: each file defines the objects `<file>-1`, `<file>-2` and so on."""

    def __init__(self, grace: float = GRACE, **files: int) -> None:
        self.all = {
            _ref(file, number): f"/m/{file}" for file, count in files.items() for number in _upto(count)
        }
        self.grace = DeletionGrace(grace)

    def at(
        self,
        now: float,
        files: Mapping[str, int],
        *,
        emptied: Collection[str] = (),
        written: float = 0,
    ) -> set[str]:
        """The objects that wait, if the files now define so many objects and were written at this time."""
        left = {_ref(file, number) for file, count in files.items() for number in _upto(count)}
        empty = [f"/m/{file}" for file, count in files.items() if not count]
        snapshot = Snapshot(
            {}, files={f"/m/{file}": (int(written),) for file in files}, emptied=[*emptied, *empty]
        )
        gone = {ref: file for ref, file in self.all.items() if ref not in left}
        waiting = self.grace.missing(gone, len(self.all), snapshot, now=now, wall=NOON + now)
        for ref in gone.keys() - waiting:
            del self.all[ref]
        return {ref.name for ref in waiting}

    @property
    def names(self) -> set[str]:
        return {ref.name for ref in self.all}


def _ref(file: str, number: int) -> ObjectRef:
    return ObjectRef("", "ConfigMap", "default", f"{file}-{number}")


def _upto(count: int) -> range:
    return range(1, count + 1)


def test_a_removed_file_is_a_deletion_at_once() -> None:
    looks = Looks(a=1, b=3, c=1)
    assert looks.at(0, {"a": 1, "c": 1}) == set()
    assert looks.names == {"a-1", "c-1"}
    assert looks.grace.next_due is None


@pytest.mark.parametrize(
    ("removed", "kept", "waits"),
    [
        pytest.param(5, 4, True, id="five-of-nine"),
        pytest.param(5, 5, False, id="five-of-ten-are-not-more-than-half"),
        pytest.param(4, 0, False, id="four-of-four-are-few"),
        pytest.param(5, 0, True, id="all-of-five"),
        pytest.param(30, 29, True, id="most-of-many"),
    ],
)
def test_most_objects_wait_if_they_vanish_together(removed: int, kept: int, *, waits: bool) -> None:
    looks = Looks(a=removed, b=kept)
    waiting = looks.at(0, {"b": kept})
    assert len(waiting) == (removed if waits else 0)
    assert looks.grace.next_due == (GRACE if waits else None)


def test_what_waits_is_deleted_by_a_look_after_the_grace_period() -> None:
    looks = Looks(a=6)
    assert len(looks.at(0, {})) == 6
    assert len(looks.at(GRACE - 0.1, {})) == 6
    assert not looks.grace.is_due(GRACE - 0.1)
    assert looks.grace.is_due(GRACE)
    assert looks.at(GRACE, {}) == set()
    assert looks.names == set()


def test_an_empty_file_waits_and_its_neighbours_do_not() -> None:
    looks = Looks(a=2, b=1, c=1)
    assert looks.at(0, {"a": 0, "c": 1}) == {"a-1", "a-2"}
    assert looks.names == {"a-1", "a-2", "c-1"}
    assert looks.at(GRACE, {"a": 0, "c": 1}) == set()
    assert looks.names == {"c-1"}


def test_an_empty_folder_that_was_made_anew_waits() -> None:
    looks = Looks(a=1, b=1)
    assert looks.at(0, {}, emptied=["/m"]) == {"a-1", "b-1"}


def test_a_shorter_file_waits_until_it_is_not_written_any_more() -> None:
    looks = Looks(a=3)
    assert looks.at(0, {"a": 1}, written=0) == {"a-2", "a-3"}
    assert looks.at(4, {"a": 2}, written=4) == {"a-3"}
    assert looks.at(5, {"a": 2}, written=4) == {"a-3"}
    assert looks.at(9, {"a": 2}, written=4) == set()
    assert looks.names == {"a-1", "a-2"}


def test_a_file_that_is_written_without_end_delays_no_longer_than_the_grace_period() -> None:
    looks = Looks(a=2)
    for now in range(0, 60, 3):
        assert looks.at(now, {"a": 1}, written=now) == {"a-2"}
    assert looks.at(GRACE, {"a": 1}, written=GRACE) == set()


def test_a_file_that_is_emptied_while_it_waits_waits_longer() -> None:
    looks = Looks(a=2)
    assert looks.at(0, {"a": 1}) == {"a-2"}
    assert looks.at(4, {"a": 0}, written=4) == {"a-1", "a-2"}
    assert looks.at(30, {"a": 0}, written=4) == {"a-1", "a-2"}
    assert looks.at(60, {"a": 0}, written=4) == {"a-1"}


@pytest.mark.parametrize("later", [{"a": 2}, {"b": 2}], ids=["some-come-back", "or-another-file-does"])
def test_what_waits_keeps_its_time(later: Mapping[str, int]) -> None:
    """While a deployment copies its files, fewer and fewer are missing: the last ones wait all the same."""
    looks = Looks(a=3, b=3)
    looks.at(0, {})
    waiting = looks.at(1, later)
    assert len(waiting) == 4
    assert looks.at(GRACE - 0.1, later) == waiting
    assert looks.at(GRACE, later) == set()


def test_what_came_back_and_vanishes_again_waits_anew() -> None:
    looks = Looks(a=1)
    assert looks.at(0, {"a": 0}) == {"a-1"}
    assert looks.at(50, {"a": 1}) == set()
    assert looks.at(55, {"a": 0}) == {"a-1"}
    assert looks.at(GRACE, {"a": 0}) == {"a-1"}
    assert looks.grace.next_due == 55 + GRACE


def test_without_a_grace_period_nothing_waits() -> None:
    looks = Looks(grace=0, a=6)
    assert looks.at(0, {"a": 0}) == set()
    assert looks.names == set()


def test_what_waits_is_reported_once_for_each_file() -> None:
    looks = Looks(a=2, b=1, c=5)
    looks.at(0, {"a": 0, "b": 0, "c": 5})
    [one, other] = looks.grace.problems()
    assert (one.source, one.problem.severity) == ("/m/a", Severity.WARNING)
    assert "the 2 objects defined here will be deleted at 2026-01-01T12:01:00Z" in one.problem.message
    assert other.source == "/m/b"
    looks.at(10, {"a": 1, "b": 0, "c": 5})
    assert looks.grace.problems() == [one, other], "the words stay the same, so that they are logged once"
    looks.at(20, {"a": 2, "b": 0, "c": 5})
    assert looks.grace.problems() == [other]
    looks.at(70, {"a": 2, "b": 0, "c": 5})
    assert looks.grace.problems() == []


def test_a_mass_deletion_is_reported_once() -> None:
    looks = Looks(a=3, b=3, c=1)
    looks.at(0, {"c": 1})
    [told] = looks.grace.problems()
    assert told.source == "/m"
    assert "6 of 7 objects are not defined any more" in told.problem.message
    assert "2026-01-01T12:01:00Z" in told.problem.message
    looks.at(10, {"a": 1, "c": 1})
    assert looks.grace.problems() == [told]


def test_a_shorter_file_is_not_worth_a_warning() -> None:
    looks = Looks(a=2)
    assert looks.at(0, {"a": 1}) == {"a-2"}
    assert looks.grace.problems() == []
