"""When sync windows let a refresh happen, and what their cron expressions mean."""

from datetime import UTC, datetime, timedelta

import pytest

from syncret.daemon.core.schedule.sync_windows import CronError, Window, allowed, next_allowed, parse

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


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "after", "expected"),
    [
        pytest.param("* * * * *", "2026-06-01T10:00:30", "2026-06-01T10:01:00", id="every minute"),
        pytest.param("0 22 * * *", "2026-06-01T22:00:00", "2026-06-02T22:00:00", id="strictly later"),
        pytest.param("0 22 * * *", "2026-06-01T21:59:59", "2026-06-01T22:00:00", id="a second before"),
        pytest.param("*/15 * * * *", "2026-06-01T10:16:00", "2026-06-01T10:30:00", id="step"),
        pytest.param(
            "5/20 * * * *", "2026-06-01T10:26:00", "2026-06-01T10:45:00", id="step from a number on"
        ),
        pytest.param(
            "0-10/5 1,3 * * *", "2026-06-01T01:06:00", "2026-06-01T01:10:00", id="range with a step"
        ),
        pytest.param("0 0 * feb,MAR *", "2026-06-01T00:00:00", "2027-02-01T00:00:00", id="month names"),
        pytest.param("0 0 * * mon-fri", "2026-06-05T00:00:00", "2026-06-08T00:00:00", id="names of days"),
        pytest.param("0 0 13 * 5", "2026-06-01T00:00:00", "2026-06-05T00:00:00", id="day or weekday"),
        pytest.param("0 0 13 * *", "2026-06-01T00:00:00", "2026-06-13T00:00:00", id="day alone"),
        pytest.param(
            "0 0 */2 * 1", "2026-06-01T00:00:00", "2026-06-03T00:00:00", id="a stepped star is no star"
        ),
        pytest.param("0 0 ? * 1", "2026-06-02T00:00:00", "2026-06-08T00:00:00", id="question mark"),
        pytest.param("0 0 29 2 *", "2026-06-01T00:00:00", "2028-02-29T00:00:00", id="leap day"),
        pytest.param("@daily", "2026-06-01T10:00:00", "2026-06-02T00:00:00", id="daily"),
        pytest.param("@weekly", "2026-06-01T10:00:00", "2026-06-07T00:00:00", id="weekly"),
        pytest.param("@annually", "2026-06-01T10:00:00", "2027-01-01T00:00:00", id="annually"),
        pytest.param("@every 90m", "2026-06-01T10:00:00", "2026-06-01T11:30:00", id="every"),
        pytest.param(
            "@every 1ms", "2026-06-01T10:00:00", "2026-06-01T10:00:01", id="every, at least a second"
        ),
    ],
)
def test_next(expression: str, after: str, expected: str) -> None:
    assert parse(expression).next(moment(after)) == moment(expected)


@pytest.mark.parametrize("expression", ["0 0 30 2 *", ", * * * *"])
def test_some_never_fire(expression: str) -> None:
    assert parse(expression).next(moment("2026-06-01T00:00:00")) is None


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "not-a-cron",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 7",
        "10-5 * * * *",
        "*/0 * * * *",
        "1-2-3 * * * *",
        "1/2/3 * * * *",
        "-5 * * * *",
        "x * * * *",
        "TZ=UTC 0 0 * * *",
        "@fortnightly",
        "@every soon",
    ],
)
def test_refuses(expression: str) -> None:
    with pytest.raises(CronError):
        parse(expression)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        pytest.param("0 0 1 2 *", "2027-02-01T00:00:00", id="a month of next year"),
        pytest.param("0 0 29 2 *", "2028-02-29T00:00:00", id="a leap day"),
        pytest.param("5 4 31 * *", "2026-12-31T04:05:00", id="not in every month"),
        pytest.param("0 0 31 2 *", "", id="never"),
    ],
)
def test_the_next_firing_in_another_month(schedule: str, expected: str) -> None:
    found = parse(schedule)
    moment = datetime(2026, 11, 2, tzinfo=UTC)
    assert found.next(moment) == (datetime.fromisoformat(expected).replace(tzinfo=UTC) if expected else None)
    assert found.next(moment + timedelta(microseconds=1)) == found.next(moment)
