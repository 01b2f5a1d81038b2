import pytest
from hypothesis import given
from hypothesis import strategies as st

from syncret.config.durations import DurationError, format_duration, parse_duration, parse_nanoseconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0.0),
        ("-0", 0.0),
        ("1h", 3600.0),
        ("1h30m", 5400.0),
        ("-1m", -60.0),
        ("+5s", 5.0),
        ("1.5h", 5400.0),
        (".5s", 0.5),
        ("1.s", 1.0),
        ("0.99370614689500h", 3577.342128821),
        ("300ms", 0.3),
        ("2us2µs2μs", 6e-6),
        ("0000000000000000000000000001s", 1.0),
        ("0.00000000000000000000000000000000000000001s", 0.0),
    ],
)
def test_durations_that_go_reads(text: str, expected: float) -> None:
    assert parse_duration(text) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'time: invalid duration ""'),
        ("-", 'time: invalid duration "-"'),
        (".s", 'time: invalid duration ".s"'),
        ("h", 'time: invalid duration "h"'),
        ("60", 'time: missing unit in duration "60"'),
        ("1h5", 'time: missing unit in duration "1h5"'),
        ("1d", 'time: unknown unit "d" in duration "1d"'),
        ("1 h", 'time: unknown unit " h" in duration "1 h"'),
        ("3000000h", 'time: invalid duration "3000000h"'),
        ("9223372036.854775808s", 'time: invalid duration "9223372036.854775808s"'),
        ("\u0661s", 'time: invalid duration "\\xd9\\xa1s"'),
        ('"\n\\', 'time: invalid duration "\\"\\x0a\\\\"'),
        ("9" * 5000 + "s", f'time: invalid duration "{"9" * 40}..."'),
    ],
)
def test_durations_that_go_refuses(text: str, message: str) -> None:
    with pytest.raises(DurationError) as caught:
        parse_duration(text)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0s"),
        (3600, "1h0m0s"),
        (90, "1m30s"),
        (5400, "1h30m0s"),
        (0.3, "300ms"),
        (1.5e-6, "1.5µs"),
        (2e-9, "2ns"),
        (-61.25, "-1m1.25s"),
    ],
)
def test_durations_are_written_as_go_prints_them(seconds: float, expected: str) -> None:
    assert format_duration(seconds) == expected


@given(st.integers(min_value=-(2**53), max_value=2**53))
def test_what_is_written_is_read_again(nanoseconds: int) -> None:
    text = format_duration(nanoseconds / 1e9)
    assert parse_nanoseconds(text) == pytest.approx(nanoseconds, abs=2)
