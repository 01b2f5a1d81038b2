"""When sync windows let a refresh happen."""

from datetime import UTC, datetime

import pytest

from syncret.daemon.core.schedule.sync_windows import Window, allowed, next_allowed

NIGHT = Window("0 22 * * *", 7200)


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("moment", "inside"),
    [
        pytest.param("2026-06-01T21:59:59", False, id="before"),
        pytest.param("2026-06-01T22:00:00", True, id="first second"),
        pytest.param("2026-06-02T00:00:00", True, id="last second"),
        pytest.param("2026-06-02T00:00:00.500000", True, id="within the last second"),
        pytest.param("2026-06-02T00:00:01", False, id="after"),
    ],
)
def test_both_ends_belong_to_a_window(moment: str, *, inside: bool) -> None:
    assert allowed("allow", [NIGHT], at(moment)) is inside
    assert allowed("deny", [NIGHT], at(moment)) is not inside


@pytest.mark.parametrize(
    ("kind", "windows", "expected"),
    [
        pytest.param("allow", [], True, id="no windows"),
        pytest.param("other", [NIGHT], True, id="unknown kind"),
        pytest.param("allow", [Window("not-a-cron", 7200)], False, id="unreadable opens nothing"),
        pytest.param("deny", [Window("not-a-cron", 7200)], True, id="unreadable denies nothing"),
        pytest.param("allow", [Window("not-a-cron", 7200), NIGHT], True, id="one of them is readable"),
        pytest.param("allow", [Window("@every 1h", 7200)], True, id="every, shorter than the window"),
        pytest.param("allow", [Window("@every 3h", 7200)], False, id="every, longer than the window"),
    ],
)
def test_allowed(kind: str, windows: list[Window], *, expected: bool) -> None:
    assert allowed(kind, windows, at("2026-06-01T23:00:00")) is expected


@pytest.mark.parametrize(
    ("kind", "windows", "moment", "expected"),
    [
        pytest.param("allow", [NIGHT], "2026-06-01T20:00:00", "2026-06-01T22:00:00", id="when it opens"),
        pytest.param("allow", [NIGHT], "2026-06-01T23:00:00", "2026-06-01T23:00:00", id="open already"),
        pytest.param("deny", [NIGHT], "2026-06-01T23:00:00", "2026-06-02T00:00:01", id="when it has closed"),
        pytest.param(
            "deny",
            [NIGHT, Window("30 23 * * *", 3600)],
            "2026-06-01T23:00:00",
            "2026-06-02T00:30:01",
            id="when both have closed",
        ),
        pytest.param("allow", [Window("0 0 30 2 *", 60)], "2026-06-01T00:00:00", None, id="never"),
        pytest.param("allow", [Window("@every 3h", 60)], "2026-06-01T00:00:00", None, id="never, by every"),
    ],
)
def test_next_allowed(kind: str, windows: list[Window], moment: str, expected: str | None) -> None:
    assert next_allowed(kind, windows, at(moment)) == (None if expected is None else at(expected))


def test_a_ban_without_an_end_is_looked_at_again_later() -> None:
    now = at("2026-06-01T00:00:00")
    later = next_allowed("deny", [Window("* * * * *", 7200)], now)

    assert later is not None
    assert later > now
