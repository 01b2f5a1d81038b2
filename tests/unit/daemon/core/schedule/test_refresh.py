"""When an object is due, and where in its interval."""

import pytest

from syncret.config.meta import Metadata
from syncret.daemon.core.schedule.refresh import is_due, is_push_due, next_due, slot, version_of

HOUR = 3600.0
NOW = 1_800_000_000.0


def test_the_version_changes_with_spec_labels_and_annotations() -> None:
    version = version_of(Metadata(generation=3, labels={"a": "1"}))

    assert version.startswith("3-")
    assert (
        len(
            {
                version,
                version_of(Metadata(generation=4, labels={"a": "1"})),
                version_of(Metadata(generation=3, annotations={"a": "1"})),
            }
        )
        == 3
    )


@pytest.mark.parametrize(
    ("policy", "interval", "synced", "last", "expected"),
    [
        pytest.param("Periodic", HOUR, "", None, True, id="new"),
        pytest.param("Periodic", HOUR, "old", NOW, True, id="changed"),
        pytest.param("Periodic", HOUR, "v", NOW - 3599, False, id="not yet"),
        pytest.param("Periodic", HOUR, "v", NOW - 3600, True, id="at the very second"),
        pytest.param("", HOUR, "v", NOW - 3600, True, id="unset means periodic"),
        pytest.param("Periodic", HOUR, "v", NOW + 60, True, id="synced in the future: the clock jumped back"),
        pytest.param("Periodic", HOUR, "v", None, True, id="time of the last sync lost"),
        pytest.param("Periodic", 0.0, "", None, True, id="interval zero: once"),
        pytest.param("Periodic", 0.0, "old", NOW, False, id="interval zero: not even when changed"),
        pytest.param("OnChange", HOUR, "v", NOW - 9999, False, id="on change: time does not count"),
        pytest.param("OnChange", HOUR, "old", NOW, True, id="on change: changed"),
        pytest.param("CreatedOnce", HOUR, "old", NOW - 9999, False, id="created once: not again"),
        pytest.param("CreatedOnce", HOUR, "", None, True, id="created once: new"),
    ],
)
def test_is_due(policy: str, interval: float, synced: str, last: float | None, *, expected: bool) -> None:
    assert is_due(policy, interval, synced=synced, current="v", last=last, now=NOW) is expected


def test_windows_hold_back_only_what_time_asks_for() -> None:
    assert not is_due("", HOUR, synced="v", current="v", last=NOW - 9999, now=NOW, allowed=False)
    assert is_due("", HOUR, synced="old", current="v", last=NOW - 9999, now=NOW, allowed=False)
    assert is_due("", HOUR, synced="v", current="v", last=NOW + 60, now=NOW, allowed=False)


@pytest.mark.parametrize(
    ("interval", "synced", "last", "expected"),
    [
        pytest.param(HOUR, "", None, True, id="new"),
        pytest.param(HOUR, "old", NOW, True, id="changed"),
        pytest.param(0.0, "old", NOW, True, id="interval zero: changed"),
        pytest.param(0.0, "v", NOW - 9999, False, id="interval zero: unchanged"),
        pytest.param(HOUR, "v", NOW - 3600, True, id="elapsed"),
        pytest.param(HOUR, "v", NOW - 3599, False, id="not yet"),
        pytest.param(HOUR, "v", None, True, id="time of the last push lost"),
    ],
)
def test_is_push_due(interval: float, synced: str, last: float | None, *, expected: bool) -> None:
    assert is_push_due(interval, synced=synced, current="v", last=last, now=NOW) is expected


@pytest.mark.parametrize(
    ("policy", "interval", "last", "expected"),
    [
        pytest.param("Periodic", HOUR, NOW - 600, NOW + 3000, id="periodic"),
        pytest.param("Periodic", HOUR, NOW - 9999, NOW, id="overdue"),
        pytest.param("Periodic", HOUR, NOW + 60, NOW, id="synced in the future"),
        pytest.param("Periodic", HOUR, None, NOW, id="never synced"),
        pytest.param("Periodic", 0.0, NOW, None, id="interval zero"),
        pytest.param("OnChange", HOUR, NOW, None, id="on change"),
        pytest.param("CreatedOnce", HOUR, NOW, None, id="created once"),
    ],
)
def test_next_due(policy: str, interval: float, last: float | None, expected: float | None) -> None:
    assert next_due(policy, interval, last=last, now=NOW) == expected


def test_a_slot_is_never_late_and_then_keeps_the_interval() -> None:
    first = slot(NOW, HOUR, "SecretStore/default/vault db")

    assert NOW < first <= NOW + HOUR
    assert slot(first, HOUR, "SecretStore/default/vault db") == first + HOUR
    assert slot(first + 2, HOUR, "SecretStore/default/vault db") == first + HOUR


def test_one_key_has_one_slot_and_many_keys_spread() -> None:
    slots = {slot(NOW, HOUR, f"SecretStore/default/vault {number}") for number in range(600)}

    assert len(slots) > 500
    assert max(slots) - min(slots) > HOUR * 0.9
    assert (slot(NOW, HOUR, "k") - slot(NOW - 600, HOUR, "k")) % HOUR == 0


@pytest.mark.parametrize("interval", [5.0, 90.5])
def test_short_and_broken_intervals_are_left_alone(interval: float) -> None:
    assert slot(NOW, interval, "k") == NOW + interval


def test_what_is_due_at_its_slot_is_due() -> None:
    due = next_due("", HOUR, last=NOW, now=NOW, spread="k")

    assert due is not None
    assert is_due("", HOUR, synced="v", current="v", last=NOW, now=due, spread="k")
    assert not is_due("", HOUR, synced="v", current="v", last=NOW, now=due - 1, spread="k")
    assert not is_due("", HOUR, synced="v", current="v", last=due, now=due, spread="k")
