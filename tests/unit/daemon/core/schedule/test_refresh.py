"""When an object is due, and where in its interval."""

from typing import Final

import pytest
from msgspec import convert
from msgspec.structs import replace

from syncret.config.fields import Json
from syncret.config.meta import Document, Metadata
from syncret.config.resources.external_secret import ExternalSecret, ExternalSecretStatus
from syncret.config.resources.push_secret import PushSecret, PushSecretStatus
from syncret.daemon.core.conditions import stamp
from syncret.daemon.core.schedule.refresh import (
    is_due,
    is_push_due,
    next_due,
    next_push_due,
    slot,
    version_of,
)
from tests.unit.daemon.core.plan.external_secret.resources import resource
from tests.unit.daemon.core.plan.push_secrets import push_secret

HOUR = 3600.0
NOW = 1_800_000_000.0
"""2027-01-15, at 08:00."""

DENIED: Final = {"kind": "deny", "windows": [{"schedule": "30 7 * * *", "duration": "1h"}]}
"""From half an hour before NOW until half an hour after it."""


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


def status(resource: ExternalSecret | PushSecret, synced: str, last: float | None) -> Document:
    """What was synced: this very version for "now", otherwise another one; and when."""
    version = version_of(resource.metadata) if synced == "now" else synced
    return {"syncedResourceVersion": version, "refreshTime": None if last is None else stamp(last)}


def external_secret(
    policy: str = "", interval: float = HOUR, synced: str = "now", last: float | None = NOW, **spec: Json
) -> ExternalSecret:
    if policy:
        spec["refreshPolicy"] = policy
    wanted = resource(refreshInterval=f"{interval:g}s", **spec)
    return replace(wanted, status=convert(status(wanted, synced, last), ExternalSecretStatus))


def pushed(interval: float, synced: str = "now", last: float | None = NOW) -> PushSecret:
    wanted = push_secret(refreshInterval=f"{interval:g}s")
    return replace(wanted, status=convert(status(wanted, synced, last), PushSecretStatus))


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        pytest.param(external_secret(synced="", last=None), True, id="new"),
        pytest.param(external_secret(synced="old"), True, id="changed"),
        pytest.param(external_secret(last=NOW - 3599), False, id="not yet"),
        pytest.param(external_secret("Periodic", last=NOW - 3600), True, id="at the very second"),
        pytest.param(external_secret(last=NOW - 3600), True, id="unset means periodic"),
        pytest.param(external_secret(last=NOW + 60), True, id="synced in the future: the clock jumped back"),
        pytest.param(external_secret(last=None), True, id="time of the last sync lost"),
        pytest.param(external_secret(interval=0, synced="", last=None), True, id="interval zero: once"),
        pytest.param(external_secret(interval=0, synced="old"), False, id="interval zero: not when changed"),
        pytest.param(external_secret("OnChange", synced="", last=None), True, id="on change: new"),
        pytest.param(external_secret("OnChange", last=NOW - 9999), False, id="on change: not by time"),
        pytest.param(external_secret("OnChange", last=NOW + 60), False, id="on change: nor by a jump"),
        pytest.param(external_secret("OnChange", synced="old"), True, id="on change: changed"),
        pytest.param(external_secret("OnChange", 0, synced="old"), True, id="on change: whatever interval"),
        pytest.param(external_secret("CreatedOnce", synced="old", last=NOW - 9999), False, id="created once"),
        pytest.param(external_secret("CreatedOnce", synced="", last=None), True, id="created once: new"),
        pytest.param(external_secret("CreatedOnce", last=None), True, id="created once: time lost"),
        pytest.param(external_secret(last=NOW - 9999, syncWindows=DENIED), False, id="denied by a window"),
        pytest.param(external_secret(synced="old", syncWindows=DENIED), True, id="denied, but changed"),
        pytest.param(external_secret(last=NOW + 60, syncWindows=DENIED), True, id="denied, but a jump"),
    ],
)
def test_is_due(resource: ExternalSecret, *, expected: bool) -> None:
    assert is_due(resource, NOW, spread=False) is expected


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        pytest.param(pushed(HOUR, "", None), True, id="new"),
        pytest.param(pushed(HOUR, "old"), True, id="changed"),
        pytest.param(pushed(0, "old"), True, id="interval zero: changed"),
        pytest.param(pushed(0, last=NOW - 9999), False, id="interval zero: unchanged"),
        pytest.param(pushed(HOUR, last=NOW - 3600), True, id="elapsed"),
        pytest.param(pushed(HOUR, last=NOW - 3599), False, id="not yet"),
        pytest.param(pushed(HOUR, last=NOW + 60), True, id="pushed in the future: the clock jumped back"),
        pytest.param(pushed(HOUR, last=None), True, id="time of the last push lost"),
    ],
)
def test_is_push_due(resource: PushSecret, *, expected: bool) -> None:
    assert is_push_due(resource, NOW) is expected


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        pytest.param(external_secret(last=NOW - 600), NOW + 3000, id="periodic"),
        pytest.param(external_secret(last=NOW - 9999), NOW, id="overdue"),
        pytest.param(external_secret(last=NOW + 60), NOW, id="synced in the future"),
        pytest.param(external_secret(last=None), NOW, id="never synced"),
        pytest.param(external_secret(interval=0), None, id="interval zero"),
        pytest.param(external_secret("OnChange"), None, id="on change"),
        pytest.param(external_secret("CreatedOnce"), None, id="created once"),
        pytest.param(external_secret(last=NOW - 9999, syncWindows=DENIED), NOW + 1801, id="after the window"),
    ],
)
def test_next_due(resource: ExternalSecret, expected: float | None) -> None:
    assert next_due(resource, NOW, spread=False) == expected


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        pytest.param(pushed(HOUR, last=NOW - 600), NOW + 3000, id="periodic"),
        pytest.param(pushed(HOUR, last=NOW - 9999), NOW, id="overdue"),
        pytest.param(pushed(HOUR, last=NOW + 60), NOW, id="pushed in the future"),
        pytest.param(pushed(HOUR, last=None), NOW, id="never pushed"),
        pytest.param(pushed(0), None, id="interval zero"),
    ],
)
def test_next_push_due(resource: PushSecret, expected: float | None) -> None:
    assert next_push_due(resource, NOW) == expected


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
    synced = external_secret()
    due = next_due(synced, NOW, spread=True)

    assert due is not None
    assert due != NOW + HOUR
    assert is_due(synced, due, spread=True)
    assert not is_due(synced, due - 1, spread=True)
    assert not is_due(external_secret(last=due), due, spread=True)


def test_generated_values_live_for_the_whole_interval() -> None:
    reference = {"apiVersion": "generators.external-secrets.io/v1alpha1", "kind": "Password", "name": "p"}
    drawn = external_secret(dataFrom=[{"sourceRef": {"generatorRef": reference}}])

    assert next_due(drawn, NOW, spread=True) == NOW + HOUR
    assert not is_due(drawn, NOW + HOUR - 1, spread=True)
