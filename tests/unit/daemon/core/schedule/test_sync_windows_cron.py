"""Cron expressions: what they mean, and which are none."""

from datetime import UTC, datetime

import pytest

from syncret.daemon.core.schedule.sync_windows import CronError, parse


def at(text: str) -> datetime:
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
    assert parse(expression).next(at(after)) == at(expected)


@pytest.mark.parametrize("expression", ["0 0 30 2 *", ", * * * *"])
def test_some_never_fire(expression: str) -> None:
    assert parse(expression).next(at("2026-06-01T00:00:00")) is None


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
